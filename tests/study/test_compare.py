"""Published values beside computed ones, on tables small enough to check by eye."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from audit.errors import AuditError
from audit.output.display import format_table
from audit.study.compare import (
    COLUMNS,
    PUBLISHED,
    STUDY_ATTEMPTS,
    Comparison,
    compare,
    comparison_table,
    identity_note,
    read_published,
    rounds_to,
    summary_table,
    verdict,
)
from audit.study.identities import find_identities

TABLES = {
    "main": pa.table(
        {
            "archive": ["a", "a", "b"],
            "budget": pa.array([4000, 8000, 4000], pa.int32()),
            "delta": [12.874999999999998, 5.8349, None],
            "cost": [100, 200, 300],
            "rule": ["x", "y", "z"],
        }
    ),
    "grade_repairs": pa.table({"archive": ["a", "b"], "adjusted_labels": [17, 41]}),
}
ARCHIVES = {"a": 10, "b": 10}


def table_of(name: str) -> pa.Table:
    if name not in TABLES:
        raise AuditError(f"{name} needs token counts: run tokenize")
    return TABLES[name]


def published(tmp_path: Path, *rows: str) -> Path:
    """A file of rows written as `table key=value … column value decimals`."""
    lines = [",".join(COLUMNS)]
    for row in rows:
        table, *keys, column, value, decimals = row.split()
        cells = {"table": table, "column": column, "value": value, "decimals": decimals}
        cells |= dict(key.split("=") for key in keys)
        lines.append(",".join(cells.get(name, "") for name in COLUMNS))
    path = tmp_path / "published.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def compared(tmp_path: Path, *rows: str) -> Comparison:
    return compare(table_of, ARCHIVES, published(tmp_path, *rows))


@pytest.mark.parametrize(
    ("computed", "value", "decimals", "equal"),
    [
        (12.875, 12.88, 2, True),
        (12.874999999999998, 12.88, 2, True),
        (12.8749, 12.88, 2, False),
        (12.884999, 12.88, 2, True),
        (12.8851, 12.88, 2, False),
        (-454.4, -454, 0, True),
        (-454.6, -454, 0, False),
        (0.0004, 0.0, 3, True),
        (2400, 2400, 0, True),
        (2401, 2400, 0, False),
        (float("nan"), 1.0, 2, False),
    ],
)
def test_a_value_equals_what_it_rounds_to(
    computed: float, value: float, decimals: int, equal: bool
) -> None:
    assert rounds_to(computed, value, decimals) is equal


def test_values_are_found_by_their_keys_and_counted_by_table(tmp_path: Path) -> None:
    comparison = compared(
        tmp_path,
        "main archive=a budget=4000 delta 12.88 2",
        "main archive=a budget=8000 delta 5.84 2",
        "main archive=b budget=4000 cost 300 0",
        "grade_repairs archive=b adjusted_labels 41 0",
    )
    assert [row.computed for row in comparison.rows] == [12.874999999999998, 5.8349, 300, 41]
    # 5.8349 rounds to 5.83, one hundredth away from the published 5.84.
    assert [row.outcome for row in comparison.rows] == ["equal", "different", "equal", "equal"]
    assert comparison.with_outcome("different") == [comparison.rows[1]]
    assert comparison.with_outcome("not_computed") == []
    assert summary_table(comparison).to_pylist() == [
        {"table": "main", "published": 3, "equal": 2, "different": 1, "not_computed": 0},
        {"table": "grade_repairs", "published": 1, "equal": 1, "different": 0, "not_computed": 0},
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("main archive=c budget=4000 delta 1 2", "archive not loaded"),
        ("main archive=b budget=8000 delta 1 2", "no such value"),
        ("main archive=b budget=4000 delta 1 2", "no such value"),
        ("main archive=a budget=4000 accuracy 1 2", "no such value"),
        ("main archive=a cap=16 delta 1 2", "no such value"),
        ("main archive=a delta 1 2", "no such value"),
        ("main archive=a budget=4000 rule 1 2", "no such value"),
        ("prefix_boxes archive=a examined 1 0", "prefix_boxes needs token counts: run tokenize"),
    ],
)
def test_a_value_that_is_not_there_says_why_and_is_no_difference(
    tmp_path: Path, row: str, reason: str
) -> None:
    comparison = compared(tmp_path, row)
    assert [(item.computed, item.reason) for item in comparison.rows] == [(None, reason)]
    assert comparison.with_outcome("not_computed") == comparison.rows


@pytest.mark.parametrize(
    ("archives", "is_study"),
    [
        (STUDY_ATTEMPTS, True),
        (STUDY_ATTEMPTS | {"mine": 5}, True),
        (STUDY_ATTEMPTS | {"gpt-oss-20b_low": 9599}, False),
        ({"gpt-oss-20b_low": 9600}, False),
        ({}, False),
    ],
)
def test_the_study_is_known_by_its_archives_and_their_size(
    tmp_path: Path, archives: dict[str, int], is_study: bool
) -> None:
    path = published(tmp_path, "main archive=zzz delta 1 2")
    comparison = compare(table_of, archives, path)
    assert comparison.is_study is is_study
    assert ("not the study's" in verdict(comparison)[0]) is not is_study


def test_simulated_archives_stand_for_the_study_by_their_role(tmp_path: Path) -> None:
    path = published(
        tmp_path,
        "main archive=x_low budget=4000 delta 12.88 2",
        "main archive=x_high budget=4000 delta 1 2",
    )
    tables = {"main": pa.table({"archive": ["sim_low"], "budget": [4000], "delta": [12.5]})}
    comparison = compare(tables.__getitem__, {"sim_low": 10}, path, ["sim_low"])
    assert [(row.key["archive"], row.computed) for row in comparison.rows] == [
        ("x_low", 12.5),
        ("x_high", None),
    ]
    sentence, status = verdict(comparison)
    assert status == 0 and sentence.startswith("The data are simulated: sim_low stand for")
    # What is there by its own name needs no other to stand for it.
    archives = {"sim_low": 10, "x_low": 10, "x_high": 10}
    assert compare(tables.__getitem__, archives, path, ["sim_low"]).simulated == ()


def test_published_values_are_checked_against_one_another() -> None:
    values = read_published(PUBLISHED)
    identities = find_identities(values)
    assert len(identities) > 350 and all(identity.holds for identity in identities)
    # A digit that is wrong in any one value breaks the identities that it is part of.
    for table, column, off, broken in (
        ("main", "delta", 0.03, {"main: delta == advisory_accuracy - strict_accuracy",
                                 "grading: source_delta == main.delta"}),
        ("pools", "p95_ratio", 0.02, {"pools: p95_ratio == advisory_p95 / key.budget"}),
        ("by_competition", "delta", 0.17, {"main: delta == mean(by_competition.delta, 4)"}),
        ("cost_comparisons", "cost_ratio", 0.01,
         {"cost_comparisons: cost_ratio == advisory_cost / strict_cost"}),
        ("main", "strict_coverage", 0.02, {"strict_coverage is a whole count of 2,400"}),
    ):  # fmt: skip
        at = next(i for i, v in enumerate(values) if (v.table, v.column) == (table, column))
        wrong = replace(values[at], published=values[at].published + off)
        found = find_identities([*values[:at], wrong, *values[at + 1 :]])
        assert broken <= {identity.text for identity in found if not identity.holds}


def test_a_value_that_differs_says_by_how_many_replays_and_what_differs_alike() -> None:
    def table_of(name: str) -> pa.Table:
        rows: list[dict[str, object]] = [
            {**v.key, v.column: v.published} for v in read_published(PUBLISHED) if v.table == name
        ]
        if name not in ("main", "grading"):
            raise AuditError("not asked")
        low = [row for row in rows if row["archive"] == "gpt-oss-20b_low" and row["budget"] == 4000]
        merged = {key: value for row in low for key, value in row.items()}
        off = {"main": "delta", "grading": "source_delta"}[name]
        merged[off] = 12.875 + 100 * 3 / 2400
        return pa.Table.from_pylist([merged])

    found = compare(table_of, dict.fromkeys(STUDY_ATTEMPTS, 1))
    reasons = {
        (row.table, row.column): row.reason for row in found.rows if row.outcome == "different"
    }
    assert reasons["main", "delta"].startswith("off by 2.9 of 2,400 replays; grading source_delta")
    assert reasons["main", "delta"].endswith("differs alike")
    assert "374 of 374 identities hold" in identity_note(found)


def test_the_published_values_ship_with_the_project() -> None:
    def nothing(name: str) -> pa.Table:
        raise AssertionError(name)

    comparison = compare(nothing, {"mine": 5})
    assert len(comparison.rows) == 386
    assert {row.reason for row in comparison.rows} == {"archive not loaded"}
    assert {row.key["archive"] for row in comparison.rows} == set(STUDY_ATTEMPTS)
    first = comparison.rows[0]
    assert (first.table, first.column, first.published) == ("main", "strict_accuracy", 37.25)
    assert first.key == {"archive": "gpt-oss-20b_low", "budget": 4000}


def test_the_comparison_prints_compactly_and_exports_in_full(tmp_path: Path) -> None:
    comparison = compared(
        tmp_path,
        "main archive=a budget=4000 delta 12.88 2",
        "main archive=c budget=4000 delta 1 2",
    )
    assert format_table(comparison_table(comparison, compact=True), "table") == (
        "table  archive  where        column  published  decimals  computed  equal  reason\n"
        "-----  -------  -----------  ------  ---------  --------  --------  -----  "
        "------------------\n"
        "main   a        budget 4000  delta       12.88         2    12.875  true\n"
        "main   c        budget 4000  delta           1         2            false  "
        "archive not loaded\n"
    )
    full = comparison_table(comparison)
    assert full.column_names[:11] == [*COLUMNS[:10], "published"]
    assert full["budget"].to_pylist() == [4000, 4000]


HEADER = ",".join(COLUMNS)


BAD_ROW = "row 2: needs a cell for each column"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the header needs table, archive"),
        (HEADER + "\n", "holds no values"),
        (HEADER.replace(",cap", "") + "\n", "the header needs cap;"),
        (HEADER + "\nmain,a,,,,,,,,delta,1\n", BAD_ROW),
        (HEADER + "\nmain,a,,,,,,,,delta,1,2,3\n", BAD_ROW),
        (HEADER + "\nmain,a,,,,,,,,delta,1,2\n,a,,,,,,,,delta,1,2\n", "row 3: needs a cell"),
        (HEADER + "\nmain,a,,,,,,,,,1,2\n", BAD_ROW),
        (HEADER + "\nmain,a,,4k,,,,,,delta,1,2\n", BAD_ROW),
        (HEADER + "\nmain,a,,,,,,,,delta,one,2\n", BAD_ROW),
        (HEADER + "\nmain,a,,,,,,,,delta,nan,2\n", BAD_ROW),
        (HEADER + "\nmain,a,,,,,,,,delta,1,-1\n", BAD_ROW),
        (HEADER + '\nmain,"a\n', "cannot be read as a CSV"),
        (HEADER + "\nmain,\udcff\n", "as a CSV in UTF-8"),
        (None, "No such file"),
    ],
)
def test_a_bad_file_is_refused_with_its_name_and_row(
    tmp_path: Path, text: str | None, message: str
) -> None:
    path = tmp_path / "mine.csv"
    if text is not None:
        path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(AuditError, match=message) as caught:
        read_published(path)
    assert "mine.csv" in str(caught.value) and "\n" not in str(caught.value)
