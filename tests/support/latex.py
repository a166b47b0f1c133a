"""Whether LaTeX is here; where it must be, a skip would hide a table that nobody can set."""

import os
import shutil

import pytest


def require_latex():
    """Skip a test where there is no pdflatex; where one is asked for, fail."""
    if shutil.which("pdflatex") is None:
        reason = "no pdflatex on PATH: install texlive-latex-base and texlive-latex-recommended"
        if os.environ.get("BUDGET_AUDIT_REQUIRE_LATEX"):
            pytest.fail(f"{reason}; BUDGET_AUDIT_REQUIRE_LATEX asks for it")
        pytest.skip(reason)
