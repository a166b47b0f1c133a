"""Write the public functions as types: `python -m tests.support.stub`.

Type checkers read `audit/__init__.pyi`; a test compares it with the functions.
"""

import inspect
import re

import audit
from audit.api import Database
from audit.options import Names, Sources, annotation_of
from audit.progress import Progress
from tests.support.command import ROOT

FILE = ROOT / "audit" / "__init__.pyi"
HEADER = '''"""The public functions with every option, for type checkers.

Written by `python -m tests.support.stub` from the functions and the fields of audit/options.py.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from audit.api import Compared, Database
from audit.database import connect as connect
from audit.errors import AuditError as AuditError
from audit.interop.scorio import ScorioArrays
from audit.options import Names, Sources
from audit.output.picture import Picture
from audit.output.result import Result as Result
from audit.output.result import Text
from audit.progress import Progress

__version__: str
'''
# Types that are written by their names.
ALIASES = {"Database": Database, "Sources": Sources, "Names": Names, "Progress": Progress}


def type_text(annotation):
    """Return a type as code."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    for name, alias in ALIASES.items():
        text = text.replace(inspect.formatannotation(alias), name)
    text = re.sub(r"\b([a-z_]+\.)+(?=[A-Za-z])", "", text).replace("NoneType", "None")
    return re.sub(r"Union\[(.+)\]$", lambda union: " | ".join(_split(union[1])), text)


def _split(text):
    """Return the parts of a union, split at the commas outside brackets."""
    return re.split(r", (?![^\[]*\])", text)


def _parameter(one, options):
    """Return a parameter as code; an option of a set may also be None, which is not given."""
    entry, default = options.get(one.name), "" if one.default is one.empty else " = ..."
    kind = type_text(annotation_of(entry)) + " | None" if entry else type_text(one.annotation)
    return f"    {one.name}: {kind}{default},".replace("'", '"')


def stub():
    """Return the text of the file."""
    lines = [HEADER]
    for name in audit.__all__:
        function = getattr(audit, name)
        if name == "connect" or not inspect.isfunction(function):
            continue
        signature = inspect.signature(function)
        parts, options = [], getattr(function, "options", {})
        for one in signature.parameters.values():
            if one.kind is one.KEYWORD_ONLY and "    *," not in parts:
                parts.append("    *,")
            parts.append(_parameter(one, options))
        listed = "\n".join(["", *parts, ""]) if parts else ""
        lines.append(f"def {name}({listed}) -> {type_text(signature.return_annotation)}: ...")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(stub(), encoding="utf-8")
