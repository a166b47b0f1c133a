"""What only some machines have: a test that needs it is skipped, or fails where it is asked for."""

import os
import shutil

import pytest


def skip(reason, room):
    """Skip a test for what is missing here; fail where BUDGET_AUDIT_REQUIRE_… asks for it."""
    variable = f"BUDGET_AUDIT_REQUIRE_{room}"
    if os.environ.get(variable):
        pytest.fail(f"{reason}; {variable} asks for it")
    pytest.skip(reason, allow_module_level=True)


def require_latex():
    """Skip a test where there is no pdflatex: nobody sees there whether a table can be set."""
    if shutil.which("pdflatex") is None:
        packages = "texlive-latex-base and texlive-latex-recommended"
        skip(f"no pdflatex on PATH: install {packages}", "LATEX")
