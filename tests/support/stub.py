"""Write the public functions as types: `python -m tests.support.stub`.

Type checkers read `audit/__init__.pyi`; a test compares it with the functions. Each option set
is a TypedDict there, which the functions that take it unpack.
"""

import inspect
import re

import audit
from audit.api import Database
from audit.options import Asked, Names, Planned, Sources, annotation_of, parameters
from audit.progress import Progress
from tests.support.command import ROOT

FILE = ROOT / "audit" / "__init__.pyi"
HEADER = '''"""The public functions with every option, for type checkers.

Written by `python -m tests.support.stub` from the functions and the fields of audit/options.py.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from audit.api import Compared, Database
from audit.database import connect as connect
from audit.errors import AuditError as AuditError
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


def _parameter(one):
    """Return a parameter as code."""
    default = "" if one.default is one.empty else " = ..."
    return f"    {one.name}: {type_text(one.annotation)}{default},".replace("'", '"')


def _typed_dict(name, bases, own):
    """Return a TypedDict as code; an option that is None is not given."""
    lines = [
        f"    {option}: {type_text(annotation_of(entry))} | None".replace("'", '"')
        for option, entry in own.items()
    ]
    body = "\n".join(lines or ["    pass"])
    return f"class {name}({', '.join(bases) or 'TypedDict'}, total=False):\n{body}\n"


def _option_set(option_set):
    """Return the TypedDicts of an option set and of its bases, by name."""
    name, entries = option_set.__name__, parameters(option_set)
    if option_set in (Asked, Planned):
        # The filters of a plan have names of their own.
        both = parameters(Asked).keys() & parameters(Planned).keys()
        shared = {key: entry for key, entry in entries.items() if key in both}
        own = {key: entry for key, entry in entries.items() if key not in both}
        return {"Run": _typed_dict("Run", [], shared), name: _typed_dict(name, ["Run"], own)}
    bases = [base for base in option_set.__bases__ if base is not object]
    inherited = {key for base in bases for key in parameters(base)}
    own = {key: entry for key, entry in entries.items() if key not in inherited}
    found = {key: text for base in bases for key, text in _option_set(base).items()}
    return found | {name: _typed_dict(name, [base.__name__ for base in bases], own)}


def stub():
    """Return the text of the file."""
    functions, dicts = [], {}
    for name in audit.__all__:
        function = getattr(audit, name)
        if name == "connect" or not inspect.isfunction(function):
            continue
        sets, signature = getattr(function, "option_sets", ()), inspect.signature(function)
        for one in sets:
            dicts |= _option_set(one)
        options = {name for one in sets for name in parameters(one)}
        parts = []
        for one in signature.parameters.values():
            if one.name in options:
                continue
            if one.kind is one.KEYWORD_ONLY and "    *," not in parts:
                parts.append("    *,")
            parts.append(_parameter(one))
        if sets:
            joined = "".join(one.__name__ for one in sets)
            if len(sets) > 1:
                dicts[joined] = _typed_dict(joined, [one.__name__ for one in sets], {})
            parts.append(f"    **options: Unpack[{joined}],")
        listed = "\n".join(["", *parts, ""]) if parts else ""
        returned = type_text(signature.return_annotation)
        functions.append(f"def {name}({listed}) -> {returned}: ...")
    return "\n".join([HEADER, *dicts.values(), *functions]) + "\n"


if __name__ == "__main__":
    FILE.write_text(stub(), encoding="utf-8")
