"""The README against the tool: its commands, tables and code blocks are run or compared."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from audit import engine
from audit.cli import main
from audit.database.schema import SCHEMA_VERSION
from audit.units import UNITS
from tests.support.archives import attempt
from tests.support.command import read_streams
from tests.support.databases import replayed, small_database

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# The first loads and replays what the others ask about.
READMES = [
    path
    for path in (
        ROOT / "README.md",
        ROOT / "sql" / "README.md",
        ROOT / "queries" / "README.md",
        *sorted(ROOT.glob("audit/*/README.md")),
        ROOT / "tests" / "README.md",
    )
    if path.exists()
]
TEXTS = {path: path.read_text(encoding="utf-8") for path in READMES}


def blocks(language):
    """The code blocks of a language in every README, each with the file it stands in."""
    pattern = re.compile(rf"```{language}\n(.*?)```", re.DOTALL)
    return [(path, block) for path, text in TEXTS.items() for block in pattern.findall(text)]


SHELL = [block for _, block in blocks("sh")]
SQL = {
    named.group(1): block for _, block in blocks("sql") if (named := re.match(r"-- (\w+):", block))
}


def test_ci_runs_the_readmes_test_command():
    command = next(block.strip() for block in SHELL if "pytest" in block)
    assert f"\n{command}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_readme_names_every_command_and_no_other():
    table = README.split("## Commands")[1].split("\n\n")[1]
    named = {
        word.split()[0]
        for row in table.splitlines()[2:]
        for word in re.findall(r"`([^`]+)`", row.split("|")[1])
    }
    assert named == set(main.commands)


def test_the_guide_for_changes_names_what_is_there():
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 12
    named = re.findall(r"`((?:audit|sql|queries|tests)/[^`]*)`", text)
    assert len(named) > 30
    for path in named:
        assert (ROOT / path).exists(), path


def test_the_changes_name_the_schema_version_of_this_program():
    text = (ROOT / "audit" / "CHANGES.md").read_text(encoding="utf-8")
    heading = next(line for line in text.splitlines() if line.startswith("## "))
    assert heading.endswith(f"schema version {SCHEMA_VERSION}")


def table_list():
    """The README's list of tables, as the tool would write it."""
    rows = [f"| `{name}` | {engine.describe_table(name)} |" for name in engine.list_tables()]
    return "\n".join(["| table | a row |", "|---|---|", *rows])


def test_the_readme_lists_every_table_as_the_tool_does():
    text = TEXTS[ROOT / "sql" / "README.md"]
    assert text.split("<!-- tables -->\n")[1].split("\n<!-- /tables -->")[0] == table_list()


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("| unit | a step costs", [*UNITS]),
        ("| rule | returns the last", [path.stem for path in (ROOT / "sql/rules").glob("*.sql")]),
        ("| folder | holds", [path.name for path in (ROOT / "sql").iterdir() if path.is_dir()]),
    ],
)
def test_the_readme_of_sql_lists_every_unit_rule_and_folder(head, names):
    table = TEXTS[ROOT / "sql" / "README.md"].split(head)[1].split("\n\n")[0]
    cells = "".join(line.split("|")[1] for line in table.splitlines()[2:])
    assert sorted(re.findall(r"`(\w+)/?`", cells)) == sorted(names)


def test_the_readme_names_every_relation(tmp_path):
    text = TEXTS[ROOT / "queries" / "README.md"]
    table = text.split("| relation | one row per |")[1].split("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    names = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(names) == sorted(engine.PUBLIC_RELATIONS)
    with small_database(tmp_path) as con:
        for name in names:
            con.sql(f"from {name} limit 1").fetchall()


def test_no_document_or_program_holds_a_machine_path():
    for path in [*READMES, *ROOT.rglob("audit/**/*.py"), *ROOT.rglob("sql/**/*.sql")]:
        assert not re.search(r"(^|[^\w.])/(work|root|home)/", path.read_text(encoding="utf-8")), (
            path
        )


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """A folder as the README's reader has it: traces, a rule and a selector of their own."""
    folder = tmp_path_factory.mktemp("readme")
    for kind, name in (("rules", "grace"), ("selectors", "shortest")):
        (folder / kind).mkdir()
        (folder / kind / f"{name}.sql").write_text(SQL[name], encoding="utf-8")
    shell(folder, "budget-audit simulate --out traces --problems 2 --attempts 8")
    return folder


def shell(folder, script):
    """Run a block of the README with the tool on the path."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    command = tools / "budget-audit"
    command.write_text(
        f"#!{sys.executable}\nimport sys\nfrom audit.__main__ import main\n"
        "if __name__ == '__main__':\n    sys.argv[0] = 'budget-audit'\n    main()\n"
    )
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        ["bash", "-euc", script], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{script}\n{done.stderr}"
    return done.stdout


RUNNABLE = [
    (path, block)
    for path, block in blocks("sh")
    if not re.search(r"venv|scorio|logs/|pip install|uvx", block)
]


@pytest.mark.slow
def test_every_other_shell_block_of_the_readmes_runs(traces):
    assert len(RUNNABLE) >= 3
    for _, block in RUNNABLE:
        shell(traces, block)
    assert (traces / "report" / "report.html").exists()
    assert "_budget_audit_completion" in (traces / "budget-audit-completion.bash").read_text()


def test_the_ad_hoc_example_is_the_table_that_it_says(traces):
    (block,) = (block for _, block in RUNNABLE if "from results" in block)
    folder = traces / "ad hoc"
    folder.mkdir()
    read_streams(folder, "load", "../traces")
    read_streams(folder, "replay", "--orders", 3, "--replicates", 20)
    found = shell(folder, block.rstrip() + " --format csv").splitlines()
    curves = read_streams(folder, "table", "curves", "--format", "csv")[0].splitlines()
    header, *rows = (line.split(",") for line in curves)
    expected = {
        tuple(row[header.index(name)] for name in ("archive", "budget", "rule")): [
            float(row[header.index(name)]) for name in ("accuracy", "cost")
        ]
        for row in rows
    }
    assert found[0] == "archive,budget,rule,accuracy,cost"
    assert len(found) == len(expected) + 1
    for archive, budget, rule, *numbers in (line.split(",") for line in found[1:]):
        assert list(map(float, numbers)) == pytest.approx(expected[archive, budget, rule])


# Those of live controllers need other packages: tests/live runs them.
PYTHON = [block for path, block in blocks("python") if path.parent.name != "live"]


@pytest.mark.parametrize("block", PYTHON)
def test_the_python_examples_run(traces, block):
    done = subprocess.run(
        [sys.executable, "-c", block],
        cwd=traces,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_the_readmes_rule_and_selector_do_what_it_says(tmp_path):
    for kind, name in (("rules", "grace"), ("selectors", "shortest")):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / f"{name}.sql").write_text(SQL[name], encoding="utf-8")
    rows = [attempt(1, 20, "4"), attempt(2, 10, "5"), attempt(3, 10, "5", correct=True)]
    own = {"rules": tmp_path / "rules", "selectors": tmp_path / "selectors"}
    with replayed(
        tmp_path, rows, budgets=(28, 37), caps=(9,), primary_cap=9, orders=1, **own
    ) as con:
        replays = con.execute(
            "select budget, rule, returned, cost from replays where repeat = 0"
        ).fetchall()
        picks = con.execute(
            "select seed from selections where repeat = 0 and selector = 'shortest' and budget = 37"
        ).fetchall()
    # Costs 20, 10, 10. A tenth over 28 is 30: the second attempt, done at 30, may finish.
    # A tenth over 37 is 40: the third may finish too.
    assert {(b, r): (n, c) for b, r, n, c in replays} == {
        (28, "strict"): (1, 28), (28, "grace"): (2, 30), (28, "advisory"): (2, 30),
        (37, "strict"): (2, 37), (37, "grace"): (3, 40), (37, "advisory"): (3, 40),
    }  # fmt: skip
    # Seeds 2 and 3 are equally short; the earliest stands.
    assert picks == [(2,), (2,), (2,)]
