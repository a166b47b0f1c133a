"""One more column, unit, score, table and option, each said once in a copy of the package."""

import csv
import io
import json

import pytest

from tests.support.archives import attempt, write_jsonl
from tests.support.copies import copied, insert, python, run_commands
from tests.support.pages import packed_tables

# A copy of the package is compiled and run as one that is new.
pytestmark = pytest.mark.slow

COLUMN = """
COLUMNS["loudness"] = _add_comment(
    _make_amounts(100), "how freely tokens were drawn"
)


"""
UNIT = '        Unit("asked", 10, "prompt tokens", "prompt token", "prompt tokens"),\n'
UNIT_COST = """\
-- unit_asked: the prompt tokens of a step, in tenths.
-- grain: bank_id, slot, step
select
    bank_id,
    slot,
    step,
    (10 * prompt_tokens)::bigint as cost,
from charges
"""
SCORE = """\
-- worst: the attempt with the smallest score so far; a tie goes to the earliest.
-- grain: walk_id, position
select
    walk_id,
    position,
    -scored.value_rank as standing,
    walked_attempts.candidate_id,
from walked_attempts
inner join candidate_scores as scored
    on walked_attempts.candidate_id = scored.candidate_id
    and scored.score = '{{ score | default('logprob') }}'
"""
INTERVAL = """\
-- interval_prompts: prompt tokens of a rule's attempts, with the ends of their interval.
-- grain: archive, budget, rule
-- totals: rule_totals inner join problem_prompts using (bank_id, budget, rule)
-- values: prompt_tokens
-- intervals: prompts low high
select
    *,
    prompt_tokens / replays as prompts,
from replicate_prompts
"""
TABLE = """\
-- prompts: the prompt tokens that a rule's attempts take at a problem.
-- grain: archive, budget, rule
select
    archive,
    budget,
    rule,
    prompts,
    prompts_low,
    prompts_high,
from interval_prompts
order by archive, budget, rule
"""
MEANING = ",prompts,mean prompt tokens of the attempts that are launched,tokens,1,2\n"
READING = '    flavour: str | None = option(None, "a flavour", "text", metavar="NAME")\n'
SETTING = '    patience: int = option(7, "how long to wait", "number")\n'
SMALL = "--caps 2 --primary-cap 2 --orders 2 --replicates 20"


def with_table(folder, interval=INTERVAL, table=TABLE):
    """The copy with one more table."""
    (folder / "sql" / "intervals" / "interval_prompts.sql").write_text(interval)
    (folder / "sql" / "tables" / "prompts.sql").write_text(table)
    with (folder / "sql" / "columns.csv").open("a") as file:
        file.write(MEANING)
    return folder


def with_archive(folder):
    """The copy with a small archive beside it."""
    rows = [
        # At a budget of 20 every controller launches two attempts, at one of 10 the first.
        attempt(seed, 10, str(seed % 2), question=n, correct=seed == 0, prompt_tokens=5 + n)
        | {"loudness": 0.5, "score_prm": 0.25 * seed}
        for n in range(3)
        for seed in range(4)
    ]
    write_jsonl(rows, folder / "a.jsonl")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The copy with one of each."""
    folder = with_archive(with_table(copied(tmp_path_factory.mktemp("added") / "copy")))
    audit = folder / "audit"
    insert(audit / "sources" / "canonical.py", "CSV_COLUMNS = COLUMNS | {", COLUMN)
    insert(audit / "units.py", '        Unit("money"', UNIT)
    (folder / "sql" / "units" / "unit_asked.sql").write_text(UNIT_COST)
    (folder / "sql" / "scores" / "worst.sql").write_text(SCORE)
    insert(audit / "options.py", "\n\n@dataclass(frozen=True)\nclass Settings:", READING)
    insert(audit / "options.py", "\n\n@dataclass(frozen=True)\nclass Limits:", SETTING)
    return folder


@pytest.fixture(scope="module")
def printed(folder):
    """What the copy's commands print, all in one process."""
    commands = {
        "describe": "describe a.jsonl --all",
        "load": "load a.jsonl",
        # No other selector of the score brings it in.
        "replay": f"replay --budgets 10,20 --selectors worst_prm,majority --patience 9 {SMALL}",
        "tables": "tables",
        "csv": "table prompts --format csv",
        "table": "table prompts",
        "selectors": "table selectors --format csv",
        "export": "export --out out prompts attempts",
        "schema attempts": "schema attempts",
        "schema prompts": "schema prompts",
        "sql": "sql interval_prompts",
        "loudness": ("query", "--format", "csv", "select distinct loudness from attempts"),
        "worst": ("query", "--format", "csv", PICKED),
        "rows": ("query", "--format", "csv", "select prompts from prompts where budget = 20"),
        "page": "report --out page",
        "asked": f"replay --unit asked --budgets 5.5,12 {SMALL}",
        "costs": "table curves --format csv",
        "plan": "plan a.jsonl --out run --parts 1 --flavour salt --patience 3 --unit asked"
        f" --budgets 5.5,12 --selectors worst_prm,majority {SMALL}",
        "extract": "extract run",
        "part": "part run 0",
        "gather": "gather run --db gathered.duckdb",
        "gathered": ("query", "--db", "gathered.duckdb", "--format", "csv", GATHERED),
        "replay --help": "replay --help",
        "plan --help": "plan --help",
        "load --help": "load --help",
        "describe --help": "describe --help",
    }
    return dict(zip(commands, run_commands(folder, *commands.values()), strict=True))


# With all four attempts at hand the worst is the one of seed 0.
PICKED = """
    select distinct seed from selections
    where selector = 'worst_prm' and budget = 20 and rule = 'advisory' and repeat = 0
"""
GATHERED = """
    select distinct loudness, value, selector from attempts, settings, selections
    where key = 'unit' order by all
"""


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_column_is_one_entry(folder, printed):
    assert "loudness            from loudness" in printed["describe"]
    assert "score_prm           from score_prm" in printed["describe"]
    assert "how freely tokens were drawn" in printed["schema attempts"]
    exported = rows_of((folder / "out" / "attempts.csv").read_text())
    assert {row["loudness"] for row in exported} == {"0.5"}
    assert printed["loudness"].split() == ["loudness", "0.5"]
    assert printed["gathered"].split()[:2] == ["loudness,value,selector", "0.5,asked,majority"]


def test_a_unit_is_one_entry_and_one_file(folder, printed):
    # 5, 6 and 7 prompt tokens an attempt: with 5.5 advisory pays two attempts of 5, or one.
    costs = {(row["budget"], row["rule"]): row["cost"] for row in rows_of(printed["costs"])}
    assert costs["5.5", "strict"] == "5.5" and costs["5.5", "advisory"] == str(23 / 3)
    assert "[completion|total|asked|money|seconds|steps]" in printed["replay --help"]
    manifest = json.loads((folder / "run" / "manifest.json").read_text())
    assert manifest["settings"]["unit"] == "asked" and manifest["settings"]["budgets"] == [55, 120]


def test_a_score_of_every_kind_is_one_file(printed):
    assert "worst_prm" in {row["selector"] for row in rows_of(printed["selectors"])}
    assert printed["worst"].split() == ["seed", "0"]
    assert printed["gathered"].split()[2:] == ["0.5,asked,worst_prm"]


def test_a_table_with_an_interval_is_two_files_and_a_line(folder, printed):
    assert "prompts              the prompt tokens" in printed["tables"]
    rows = rows_of(printed["csv"])
    # A replicate draws three of the problems.
    means = {(row["budget"], row["rule"]): float(row["prompts"]) for row in rows}
    assert means == {
        (budget, rule): mean
        for budget, mean in (("10", 6), ("20", 12))
        for rule in ("advisory", "strict")
    }
    for row in rows:
        assert 5 <= float(row["prompts_low"]) < float(row["prompts"]) < float(row["prompts_high"])
    assert "12.0 [" in printed["table"]
    assert rows_of((folder / "out" / "prompts.csv").read_text()) == rows
    assert printed["rows"].split() == ["prompts", "12.0", "12.0"]
    assert "mean prompt tokens of the attempts that are launched" in printed["schema prompts"]
    assert "lower end of the 95 % interval of prompts" in printed["schema prompts"]
    assert "from rule_totals" in printed["sql"]
    page = (folder / "page" / "report.html").read_text(encoding="utf-8")
    (packed,) = (table for table in packed_tables(page)["tables"] if table["name"] == "prompts")
    columns = ["archive", "budget", "rule", "prompts", "prompts_low", "prompts_high"]
    assert list(packed["values"]) == columns


def test_an_option_is_one_field(folder, printed):
    for command in ("load", "describe", "plan"):
        assert "--flavour NAME" in printed[f"{command} --help"]
    for command in ("replay", "plan"):
        assert "--patience N" in printed[f"{command} --help"]
        assert "How long to wait (default: 7)." in printed[f"{command} --help"]
    manifest = json.loads((folder / "run" / "manifest.json").read_text())
    assert manifest["settings"]["patience"] == 3 and manifest["reading"]["flavour"] == "salt"
    # The second replay was not told, and has what the first was.
    done = python(folder, "-c", PARAMETERS)
    assert done.returncode == 0, done.stderr[-2000:]


PARAMETERS = """
import inspect, audit
for function, name in (
    (audit.replay, "patience"), (audit.plan, "patience"), (audit.load, "flavour"),
    (audit.describe, "flavour"), (audit.plan, "flavour"),
):
    assert name in inspect.signature(function).parameters, (function, name)
    assert f"\\n    {name}: " in function.__doc__, (function, name)
kept = audit.query("audit.duckdb", "select value from settings where key = 'patience'")
assert kept.to_pydict() == {"value": ["9"]}
"""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"interval": INTERVAL.replace("-- values: prompt_tokens\n", "")},
            "sql/intervals/interval_prompts.sql: its header lacks the line '-- values: …'",
        ),
        (
            {"interval": INTERVAL.replace("rule_totals inner", "rule_sums inner")},
            "sql/tables/prompts.sql: Catalog Error: Table with name rule_sums",
        ),
    ],
)
def test_a_table_that_lacks_something_says_what_and_where(tmp_path, changed, said):
    folder = with_archive(with_table(copied(tmp_path / "copy"), **changed))
    with pytest.raises(AssertionError) as failed:
        replayed = f"replay --budgets 10,20 {SMALL}"
        list(run_commands(folder, "load a.jsonl", replayed, "tables", "table prompts"))
    assert said in str(failed.value)
