"""The simulated archives: their calibration, their texts, and that they say what they are."""

from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

import pyarrow.parquet as pq
import pytest

from audit.answers import boxed_answer, normalize
from audit.errors import AuditError
from audit.study import simulate as module
from audit.study.simulate import simulate
from tests.support.archives import SCHEMA

# The study's source-record audit: no box, length, parser agreement, median completion tokens; and
# the accuracies that the archive's authors publish.
PUBLISHED = {
    ("simulated_low", "AIME24"): (132, 122, 2268, 2924.0, 0.678),
    ("simulated_low", "AIME25"): (123, 121, 2277, 3471.0, 0.599),
    ("simulated_low", "BrUMO25"): (16, 0, 2307, 1180.0, 0.424),
    ("simulated_low", "HMMT25"): (34, 1, 2366, 1307.5, 0.195),
    ("simulated_high", "AIME24"): (400, 413, 2000, 6994.0, 0.753),
    ("simulated_high", "AIME25"): (508, 543, 1892, 8880.0, 0.700),
    ("simulated_high", "BrUMO25"): (736, 841, 1584, 19183.0, 0.659),
    ("simulated_high", "HMMT25"): (1152, 1333, 1248, 32768.0, 0.448),
}
CANONICAL = {field.name: field.type for field in SCHEMA if field.name != "boxed_answer"}


def read_rows(paths: list[Path]) -> list[dict]:
    """All records of some files, with the answers that the parser finds in them."""
    rows = [row for path in paths for row in pq.read_table(path).to_pylist()]
    for row in rows:
        row["answer"] = boxed_answer(row["text"])
    return rows


def audit_of(rows: list[dict]) -> dict[tuple[str, str], tuple[float, ...]]:
    """The source-record audit of some records."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["archive"], row["competition"]].append(row)
    return {
        key: (
            sum(row["answer"] is None for row in group),
            sum(row["finish_reason"] == "length" for row in group),
            sum(
                row["answer"] is not None and row["answer"] == normalize(row["archive_answer"])
                for row in group
            ),
            median(row["completion_tokens"] for row in group),
            sum(row["correct"] for row in group) / len(group),
        )
        for key, group in groups.items()
    }


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return simulate(tmp_path_factory.mktemp("simulated"))


@pytest.fixture(scope="module")
def rows(paths: list[Path]) -> list[dict]:
    return read_rows(paths)


@pytest.fixture(scope="module")
def full_rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    return read_rows(
        simulate(tmp_path_factory.mktemp("full"), problems=5, attempts=20, texts="full")
    )


def test_every_file_has_the_canonical_schema_and_says_it_is_simulated(paths: list[Path]) -> None:
    assert [path.name for path in paths] == ["simulated_low.parquet", "simulated_high.parquet"]
    for path in paths:
        schema = pq.read_schema(path)
        assert dict(zip(schema.names, schema.types, strict=True)) == CANONICAL
        assert schema.metadata[b"simulated"] == b"true"
        assert b"imulated" in schema.metadata[b"description"]


def test_counts_and_medians_of_the_audit_and_accuracies_are_the_published_ones(rows) -> None:
    found = audit_of(rows)
    assert {key: one[:4] for key, one in found.items()} == {k: v[:4] for k, v in PUBLISHED.items()}
    assert all(abs(one[4] - PUBLISHED[key][4]) < 0.0005 for key, one in found.items())


def test_the_shape_is_the_study_s(rows: list[dict]) -> None:
    keys = {(r["archive"], r["competition"], r["question_id"], r["seed"]) for r in rows}
    assert len(rows) == len(keys) == 19_200
    assert {key[:2] for key in keys} == set(PUBLISHED)
    assert {key[2] for key in keys} == set(range(30))
    assert {key[3] for key in keys} == set(range(1234, 1314))


@pytest.mark.parametrize(("problems", "attempts", "seed"), [(10, 16, 1), (7, 9, 2)])
def test_other_shapes_and_seeds_keep_the_audit_s_proportions(
    tmp_path: Path, problems: int, attempts: int, seed: int
) -> None:
    records = problems * attempts
    computed = audit_of(
        read_rows(simulate(tmp_path, problems=problems, attempts=attempts, seed=seed))
    )
    for key, (no_box, length, agreement, middle, _) in PUBLISHED.items():
        counts = tuple(round(count * records / 2400) for count in (no_box, length, agreement))
        assert computed[key][0:2] == counts[0:2]
        assert computed[key][2] == min(counts[2], records - counts[0])
        assert computed[key][3] == pytest.approx(middle, rel=0.02)


@pytest.mark.parametrize(("problems", "attempts"), [(1, 1), (3, 2)])
@pytest.mark.parametrize("texts", ["final", "full"])
def test_the_smallest_shapes_work(tmp_path: Path, problems: int, attempts: int, texts: str) -> None:
    rows = read_rows(simulate(tmp_path, problems=problems, attempts=attempts, texts=texts))
    assert len(rows) == 8 * problems * attempts


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_ones(tmp_path: Path) -> None:
    def written(folder: str, seed: int) -> list[bytes]:
        paths = simulate(tmp_path / folder, problems=4, attempts=6, seed=seed)
        return [path.read_bytes() for path in paths]

    assert written("a", 7) == written("b", 7)
    assert written("a", 7) != written("c", 8)


def test_wrong_answers_repeat_and_can_win_the_vote(rows: list[dict]) -> None:
    votes: dict[tuple, Counter] = defaultdict(Counter)
    for row in rows:
        if row["archive"] == "simulated_low" and row["answer"] is not None:
            votes[row["competition"], row["question_id"]][row["answer"], row["correct"]] += 1
    winners = [tally.most_common(1)[0] for tally in votes.values()]
    assert 30 < sum(not correct for (_, correct), _ in winners) < 80
    assert all(1 in tally.values() for tally in votes.values() if len(tally) > 8)


@pytest.mark.parametrize("kind", module.ANSWERS)
def test_spellings_merge_or_stay_apart_as_declared(kind: str) -> None:
    _, spellings, apart = module.ANSWERS[kind]
    numbers = tuple(high for _, high in module.ANSWERS[kind].ranges)
    first = spellings[0] % numbers
    assert normalize(first) == first
    assert {normalize(spelling % numbers) for spelling in spellings} == {first}
    assert len(set(spellings)) == len(spellings)
    if apart:
        assert normalize(apart % numbers) not in (first, None)


def test_label_conflicts_are_the_study_s_and_references_resolve_them(rows: list[dict]) -> None:
    labels = defaultdict(list)
    for row in rows:
        if row["answer"] is not None:
            accepted = {normalize(reference) for reference in row["references"]}
            key = (row["archive"], row["competition"], row["question_id"], row["answer"])
            labels[key].append((row["correct"], row["correct"] or row["answer"] in accepted))
    groups = {key: pairs for key, pairs in labels.items() if len({old for old, _ in pairs}) == 2}
    assert Counter(key[:2] for key in groups) == {
        ("simulated_low", "HMMT25"): 2,
        ("simulated_high", "HMMT25"): 6,
    }
    assert all(repaired for pairs in groups.values() for _, repaired in pairs)
    adjusted = Counter(key[0] for key, pairs in labels.items() for old, new in pairs if old != new)
    assert adjusted == {"simulated_low": 17, "simulated_high": 41}


def test_log_probabilities_are_a_weak_sign_of_correctness(rows: list[dict]) -> None:
    values = {True: [], False: []}
    for row in rows:
        if row["mean_logprob"] == row["mean_logprob"]:
            values[row["correct"]].append(row["mean_logprob"])
    missing = len(rows) - len(values[True]) - len(values[False])
    assert 0 < missing < 200
    assert all(value < 0 for known in values.values() for value in known)
    assert 0 < median(values[True]) - median(values[False]) < 0.05


def test_full_texts_have_the_recorded_tokens_or_one_less(full_rows: list[dict]) -> None:
    some = full_rows[::4]
    surplus = Counter(row["completion_tokens"] - module.count_tokens(row["text"]) for row in some)
    assert 0.88 < (surplus[0] + surplus[1]) / len(some) < 1
    assert min(surplus[0], surplus[1]) > 0.1 * len(some)


def test_texts_change_nothing_else(tmp_path: Path, full_rows: list[dict]) -> None:
    final = read_rows(simulate(tmp_path, problems=5, attempts=20))
    differing = {"text", "mean_logprob"}  # NaN is not equal to itself
    for short, long in zip(final, full_rows, strict=True):
        assert all(short[name] == long[name] for name in short if name not in differing)
        assert short["text"].count("\\boxed{") == long["text"].count("\\boxed{")


def test_tokens_are_counted_as_the_tokenizer_counts_them(
    rows: list[dict], full_rows: list[dict]
) -> None:
    splintr = pytest.importorskip("splintr")
    encode = splintr.Tokenizer.from_pretrained("o200k_base").encode_ordinary
    for row in rows[::3] + full_rows[::20]:
        assert module.count_tokens(row["text"]) == len(encode(row["text"])), row["text"][-200:]


def test_an_interrupted_run_leaves_the_old_files_and_nothing_half_written(tmp_path: Path) -> None:
    before = [path.read_bytes() for path in simulate(tmp_path, problems=1, attempts=2)]

    def interrupt(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(tmp_path, problems=2, attempts=2, progress=interrupt)
    names = ["simulated_low.parquet", "simulated_high.parquet"]
    assert [(tmp_path / name).read_bytes() for name in names] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"problems": 0}, "0 problems"),
        ({"attempts": 0}, "0 attempts"),
        ({"problems": -3}, "-3 problems"),
        ({"problems": 10_000, "attempts": 10_000}, "at most 1,000,000"),
        ({"seed": -1}, "seed -1"),
        ({"texts": "none"}, "final or full"),
    ],
)
def test_impossible_options_are_refused_in_one_line(
    tmp_path: Path, options: dict, message: str
) -> None:
    with pytest.raises(AuditError) as refusal:
        simulate(tmp_path / "out", **options)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "out").exists()


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("mine")
    for out in (target, target / "deeper"):
        with pytest.raises(AuditError, match="folder"):
            simulate(out, problems=1, attempts=1)
    assert target.read_text() == "mine"
