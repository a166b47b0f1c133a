"""The layout: which packages may know which, how long a function is, and what keeps its place."""

import ast
import re
import subprocess
import sys
from pathlib import Path

from tests.support import stub

ROOT = Path(__file__).resolve().parents[1]
# A package may import those of its own line and of the lines above it.
LINES = (
    {"errors", "text", "progress", "ahead", "units", "rules", "options"},
    {"database", "answers"},
    {"engine", "sources"},
    {"load", "tokens", "query", "output"},
    {"study", "scale", "report", "live"},
    {"api"},
    {"cli"},
    {"__main__"},
)
# What a package of another line may know all the same, and why.
ALLOWED = {
    # Costs that a log lacks are counted while it is read.
    ("sources", "tokens"),
}


def line_of(package):
    """The number of a package's line."""
    (number,) = [number for number, packages in enumerate(LINES) if package in packages]
    return number


def imports(path):
    """The packages that a file imports, at its top or anywhere else in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "audit":
            yield from (name.name for name in node.names if not name.name.startswith("__version"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("audit."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            # The package itself is its functions.
            yield from ("api" for name in node.names if name.name == "audit")
            yield from (
                name.name.split(".")[1] for name in node.names if name.name.startswith("audit.")
            )


def test_imports_go_one_way():
    wrong = []
    for path in sorted((ROOT / "audit").rglob("*.py")):
        package = path.relative_to(ROOT / "audit").parts[0].removesuffix(".py")
        if package == "__init__":
            continue
        for other in imports(path):
            if (package, other) not in ALLOWED and line_of(other) > line_of(package):
                wrong.append(f"{path.relative_to(ROOT)} imports {other}")
    assert wrong == []


def test_sources_and_answers_know_no_database():
    # A select over sources is read by DuckDB, in a sandbox of its own.
    selects = {
        "views.py",
        "selects.py",
        "evidence.py",
        "unused.py",
        "selected.py",
        "format_selects.py",
    }
    for package in ("sources", "answers"):
        for path in (ROOT / "audit" / package).rglob("*.py"):
            if path.name in selects:
                continue
            assert not {"database", "engine"} & set(imports(path)), path
            assert "import duckdb" not in path.read_text(encoding="utf-8"), path


def test_live_imports_nothing_of_the_engine_at_start():
    code = "import sys, audit.live; print(sorted(name for name in sys.modules if name in BANNED))"
    banned = {"duckdb", "pyarrow", "numpy", "audit.engine", "audit.load", "inspect_ai"}
    found = subprocess.run(
        [sys.executable, "-c", f"BANNED = {banned!r}\n{code}"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    assert found.stdout.strip() == "[]"


def test_a_function_keeps_its_name_beside_a_package_of_the_same_name():
    import audit.load.load
    import audit.query.run

    assert callable(audit.load) and callable(audit.query)
    assert sys.modules["audit.load"] is not audit.load


def test_no_test_imports_a_test():
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
                assert not node.module.rpartition(".")[2].startswith("test_"), path


def functions():
    """Every function of the package, with its file."""
    for path in sorted((ROOT / "audit").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path.relative_to(ROOT), node


def test_no_function_is_longer_than_a_screen():
    long = [f"{path}: {one.name}" for path, one in functions() if lines_of(one) > 60]
    assert long == []


def lines_of(node):
    return node.end_lineno - node.lineno + 1


def test_type_checkers_know_the_options_as_their_fields_declare_them():
    written = stub.FILE.read_text(encoding="utf-8")
    assert written == stub.stub(), "run: python -m tests.support.stub"


# How docstrings begin that name what comes back, not what is done.
NO_VERBS = """
    A An All As Both By Each Every For From How In Its No Not Of One Only Several Some That The
    Their These This Those Three Two What When Where Whether Which Who Why With
"""


def test_docstrings_of_functions_begin_with_a_verb():
    """A sentence says what the function does: "Return …", "Read …", "Refuse …"."""
    texts = [(path, one, ast.get_docstring(one)) for path, one in functions()]
    first_lines = {f"{path}: {one.name}": text.splitlines()[0] for path, one, text in texts if text}
    nouns = [
        name for name, line in first_lines.items() if re.search(r"\w+", line)[0] in NO_VERBS.split()
    ]
    assert len(nouns) <= 0.15 * len(first_lines), nouns
    assert [name for name, line in first_lines.items() if len(line) > 100] == []


def test_every_test_that_the_lowest_versions_run_is_there():
    named = re.findall(r"(tests/\S+?\.py)(?:::(\w+))?", (ROOT / ".ci" / "lowest").read_text())
    missing = [
        (file, name) for file, name in named if f"def {name}" not in (ROOT / file).read_text()
    ]
    assert len(named) > 10 and not missing
