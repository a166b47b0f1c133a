"""Arrow tables as text: one golden per format, rounding, hostile strings, CSV as a file."""

import csv
import io
import json
from decimal import Decimal

import click
import duckdb
import pyarrow as pa
import pytest

from audit import engine
from audit.errors import AuditError
from audit.output.display import FORMATS, display_columns, format_table, round_half_up
from audit.output.terminal import fit_to_width
from audit.output.write import write_rows

SMALL = pa.table(
    {
        "archive": ["low", "high"],
        "budget": [4000, 8192],
        "strict_accuracy": [37.25, 50.125],
        "delta": [12.874999999999998, -0.41666],
        "delta_low": [9.7916, -1.1666],
        "delta_high": [16.1666, 0.25],
        "strict_cost": [7485.4, 1234567.5],
        "resolved": [True, None],
    }
)

TEX = (
    "% \\usepackage{booktabs}\n"
    "\\begin{table*}[t]\n"
    "\\centering\n"
    "\\small\n"
    "\\setlength{\\tabcolsep}{2.5pt}\n"
    "\\caption{The paired boundary audit: accuracy, coverage and realized cost of both"
    " rules at the same budget.}\n"
    "\\label{tab:main}\n"
    "\\begin{tabular}{@{}lrrrrl@{}}\n"
    "\\toprule\n"
    "archive & budget & \\shortstack[r]{strict\\\\accura"
    "cy\\\\(\\%)} & \\shortstack[r]{delta\\\\(points)} & \\shortstack[r]{strict\\\\cost\\\\(toke"
    "ns)} & resolved \\\\\n"
    "\\midrule\n"
    "low & 4k & 37.25 & 12.88 [9.79, 16.17] & 7,485 & true \\\\\n"
    "high & 8,192 & 50.13 & $-$0.42 [$-$1.17, 0.25] & 1,234,568 &  \\\\\n"
    "\\bottomrule\n"
    "\\end{tabular}\n"
    "\n"
    "\\end{table*}\n"
)

GOLDEN = {
    "table": """\
archive  budget  strict_accuracy                delta  strict_cost  resolved
-------  ------  ---------------  -------------------  -----------  --------
low          4k            37.25  12.88 [9.79, 16.17]        7,485  true
high      8,192            50.13  -0.42 [-1.17, 0.25]    1,234,568
""",
    "csv": """\
archive,budget,strict_accuracy,delta,delta_low,delta_high,strict_cost,resolved
low,4000,37.25,12.874999999999998,9.7916,16.1666,7485.4,true
high,8192,50.125,-0.41666,-1.1666,0.25,1234567.5,
""",
    "json": """\
[
\t{"archive":"low","budget":4000,"strict_accuracy":37.25,"delta":12.874999999999998,\
"delta_low":9.7916,"delta_high":16.1666,"strict_cost":7485.4,"resolved":true},
\t{"archive":"high","budget":8192,"strict_accuracy":50.125,"delta":-0.41666,\
"delta_low":-1.1666,"delta_high":0.25,"strict_cost":1234567.5,"resolved":null}
]
""",
    "md": """\
| archive | budget | strict accuracy, % | delta, points | strict cost, tokens | resolved |
| --- | ---: | ---: | ---: | ---: | --- |
| low | 4k | 37.25 | 12.88 [9.79, 16.17] | 7,485 | true |
| high | 8,192 | 50.13 | -0.42 [-1.17, 0.25] | 1,234,568 |  |
""",
    "tex": TEX,
}


@pytest.mark.parametrize("fmt", FORMATS)
def test_each_format_prints_the_small_table_as_written_here(fmt: str) -> None:
    assert format_table(SMALL, fmt, "main") == GOLDEN[fmt]


def test_an_unknown_format_is_a_clear_mistake() -> None:
    with pytest.raises(AuditError, match="unknown format 'xlsx': use one of table, csv"):
        format_table(SMALL, "xlsx")


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (12.875, 2, "12.88"),
        (12.874999999999998, 2, "12.88"),
        (50.125, 2, "50.13"),
        (-0.625, 2, "-0.63"),
        (2.5, 0, "3"),
        (-454.5, 0, "-455"),
        (-0.001, 2, "0.00"),
        (1e22, 0, "1" + "0" * 22),
        (Decimal("0.125"), 2, "0.13"),
        (float("nan"), 2, "nan"),
    ],
)
def test_halves_round_away_from_zero(value: float, decimals: int, text: str) -> None:
    assert round_half_up(value, decimals) == text


@pytest.mark.parametrize(
    ("name", "column", "value", "text"),
    [
        ("grading", "change", 0.08333, "0.083"),
        ("cap_sensitivity", "delta", 12.875, "12.875"),
        ("cost_comparisons", "cost_ratio", 0.58771, "0.588"),
        ("curves", "cost_ratio", 0.58771, "0.59"),
        ("interpolation", "left_budget", 16000, "16k"),
        ("source_audit", "median_tokens", 19183.0, "19183.0"),
        ("prefix_boxes", "boundary_events", 2380, "2,380"),
        ("grade_conflicts", "question_id", 12345, "12345"),
        (None, "share", 1 / 3, "0.333333"),
        (None, "total", 1234567.8, "1234568"),
        (None, "tiny", 1.25e-7, "1.25e-07"),
        (None, "whole", 3.0, "3"),
    ],
)
def test_a_column_rounds_as_the_study_prints_it(
    name: str | None, column: str, value: float, text: str
) -> None:
    assert display_columns(name, pa.table({column: [value]}))[0].cells == [text]


def test_an_interval_stands_beside_its_estimate_only_when_all_three_are_there() -> None:
    table = pa.table(
        {
            "delta_low": [1.0, None, 1.0, 1.0],
            "delta": [2.0, 2.0, None, 2.0],
            "delta_high": [3.0, 3.0, 3.0, None],
            "cost_low": [5, 5, 5, 5],
        }
    )
    merged, alone = display_columns("main", table)
    assert (merged.header, merged.numeric) == ("delta", True)
    assert merged.cells == ["2.00 [1.00, 3.00]", "2.00", "", "2.00"]
    assert (alone.header, alone.cells) == ("cost_low", ["5"] * 4)


def test_an_empty_table_says_so_on_a_terminal() -> None:
    empty = SMALL.select(["archive", "budget"]).slice(0, 0)
    assert format_table(empty, "table") == "archive  budget\n-------  ------\n(no rows)\n"
    assert format_table(empty, "csv") == "archive,budget\n"
    assert json.loads(format_table(empty, "json")) == []


HOSTILE = "a|b\n<script>&\\frac{1}{2}$x_1^2$~#%\t\x1b[31m\x9b"


def test_the_terminal_never_sees_a_control_character() -> None:
    text = format_table(pa.table({"x\ny": [HOSTILE]}), "table")
    assert [line for line in text.splitlines() if not line.isprintable()] == []
    assert text.splitlines()[0] == r"x\ny"
    assert r"a|b\n<script>&\frac{1}{2}$x_1^2$~#%\t\x1b[31m\x9b" in text


def test_a_wide_cell_is_cut_at_sixty_characters_on_a_terminal_and_never_in_a_pipe() -> None:
    table = pa.table({"x": ["y" * 60, "z" * 61]})
    lines = click.unstyle(format_table(table, "table", width=80)).splitlines()
    assert lines[2:] == ["y" * 60, "z" * 59 + "…"]
    assert format_table(table, "table").splitlines()[2:] == ["y" * 60, "z" * 61]


def test_markdown_keeps_a_hostile_string_in_its_cell() -> None:
    last = format_table(pa.table({"x": [HOSTILE], "y": ["_z_"]}), "md").splitlines()[2]
    assert last == (
        r"| a\|b\\n&lt;script&gt;&amp;\\frac{1}{2}\$x_1^2\$\~\#%\\t\\x1b\[31m\\x9b | \_z\_ |"
    )


def test_latex_escapes_every_special_character() -> None:
    line = format_table(pa.table({"x": [HOSTILE]}), "tex").splitlines()[4]
    assert line == (
        r"a\textbar{}b \textless{}script\textgreater{}\&\textbackslash{}frac\{1\}\{2\}"
        r"\$x\_1\textasciicircum{}2\$\textasciitilde{}\#\% [31m \\"
    )


def test_a_latex_row_never_starts_with_an_argument_of_the_line_before() -> None:
    rows = format_table(pa.table({"x": ["[2pt]", "*", "é"]}), "tex").splitlines()[4:7]
    assert rows == [r"{}[2pt] \\", r"{}* \\", r"é \\"]


def test_json_has_null_for_what_is_not_finite_and_two_names_for_two_columns() -> None:
    numbers = pa.array([float("nan"), float("inf"), 0.1])
    table = pa.Table.from_arrays([numbers, pa.array([1, 2, 2**60])], ["x", "x"])
    assert json.loads(format_table(table, "json")) == [
        {"x": None, "x_1": 1},
        {"x": None, "x_1": 2},
        {"x": 0.1, "x_1": 2**60},
    ]


def test_values_of_other_types_have_a_text_in_every_format() -> None:
    table = pa.table(
        {
            "list": pa.array([[1, None]]),
            "struct": pa.array([{"a": 1.5}]),
            "time": pa.array([1], pa.timestamp("ns")),
            "word": pa.array(["w"]).dictionary_encode(),
            "sum": pa.array([Decimal("3.50")]),
            "raw": pa.array([b"\x00"]),
            "nothing": pa.nulls(1),
        }
    )
    assert list(csv.reader(io.StringIO(format_table(table, "csv"))))[1] == [
        "[1,null]", '{"a":1.5}', "1970-01-01 00:00:00.000000001", "w", "3.50", "\\x00", "",
    ]  # fmt: skip
    assert json.loads(format_table(table, "json"))[0]["struct"] == {"a": 1.5}
    assert [column.cells for column in display_columns(None, table)][3:5] == [["w"], ["3.5"]]


def test_csv_quotes_only_what_needs_it_and_tells_empty_from_null() -> None:
    table = pa.table({"a,b": ['say "x"', "", None, "plain", " space "], "n": [1, 2, 3, 4, None]})
    assert format_table(table, "csv") == ('"a,b",n\n"say ""x""",1\n"",2\n,3\nplain,4\n space ,\n')


def test_a_failed_csv_leaves_the_old_file_and_no_other(tmp_path) -> None:
    def broken():
        yield pa.record_batch({"i": [1]})
        raise RuntimeError("stop")

    path = tmp_path / "x.csv"
    path.write_text("old")
    with pytest.raises(duckdb.Error, match="stop"):
        schema = pa.schema([("i", pa.int64())])
        write_rows(pa.RecordBatchReader.from_batches(schema, broken()), path, "csv")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_csv_that_cannot_be_written_is_a_clear_mistake(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "none" / "x.csv", tmp_path / "file" / "x.csv"):
        with pytest.raises(AuditError, match=r"cannot write .*x\.csv"):
            write_rows(SMALL, path, "csv")


def test_every_number_of_every_table_has_a_unit_or_decimals(small_tables) -> None:
    """A new column that `sql/columns.csv` says nothing of would be printed with six digits."""
    unknown = [
        f"{name}.{field.name}"
        for name, table in small_tables.items()
        for field in table.schema
        if pa.types.is_floating(field.type)
        and not engine.find_column_meaning(name, field.name).unit
        and not engine.find_column_meaning(name, field.name).decimals
    ]
    assert unknown == []


def test_a_narrow_terminal_keeps_what_a_table_is_about(small_tables) -> None:
    for name, wanted in {
        "main": "strict_accuracy advisory_accuracy delta strict_cost advisory_cost",
        "matched_cost": "advisory_accuracy strict_accuracy delta",
        "policies": "policy rule budget accuracy cost_saved answer_kept",
    }.items():
        table = small_tables[name]
        long = pa.array([f"a-model-of-many-words-4.5 {row % 2}" for row in range(len(table))])
        table = table.set_column(0, "archive", long)
        text, left_out = fit_to_width(display_columns(name, table), table.num_rows, 80)
        assert not set(wanted.split()) & set(left_out), name
        assert all(len(line) <= 80 for line in click.unstyle(text).splitlines()), name
        assert "4.5" in text or "4…" not in text


def test_sentences_of_a_table_are_wrapped_and_never_cut() -> None:
    claim = "where both rules must select the same attempt, they do select the same attempt"
    table = pa.table({"check": ["a"], "claim": [claim], "looked_at": [1], "violations": [0]})
    text = click.unstyle(format_table(table, "table", "check", width=50))
    assert "…" not in text and max(map(len, text.splitlines())) <= 50
    assert set(claim.split()) <= set(text.split())


@pytest.mark.parametrize(
    ("unit", "budget", "cost", "cells"),
    [
        ("completion", 4000, 7485.4, ["4k", "7,485"]),
        ("total", 1500, 75.25, ["1,500", "75.3"]),
        ("money", 0.25, 0.03741, ["$0.25", "$0.0374"]),
        ("seconds", 90.0, 12.44, ["90 s", "12.4 s"]),
        ("steps", 3, 2.5, ["3", "2.5"]),
    ],
)
def test_amounts_are_written_in_the_unit_of_their_table(unit, budget, cost, cells) -> None:
    table = pa.table({"budget": [budget], "cost": [cost]}).replace_schema_metadata({"unit": unit})
    columns = display_columns("curves", table)
    assert [column.cells[0] for column in columns] == cells
    words = {"completion": ", tokens", "total": ", tokens", "steps": ", steps"}
    assert [column.heading for column in columns] == ["budget", f"cost{words.get(unit, '')}"]


def test_an_aggregate_of_a_column_is_printed_as_the_column_is() -> None:
    columns = {'avg("cost")': [13667.1], "max(curves.accuracy)": [62.5], "length(text)": [13667.1]}
    text = format_table(pa.table(columns), "table", "")
    assert text.splitlines()[-1].split() == ["13,667", "62.50", "13667.1"]
