"""Token counts and interrupted prefixes: by hand, by a slow reference, in the real encoding."""

import random
import shutil
import sys
from collections import Counter

import pytest

from audit import database, engine, tokens
from audit.answers import boxed_answer, boxes, normalize
from audit.cli import main
from audit.errors import AuditError
from audit.load.load import load
from audit.tokens import counting, encodings
from tests import reference
from tests.support import archives
from tests.support.able import able
from tests.support.archives import ANSWERS, random_archive, random_settings, write_parquet
from tests.support.databases import TOY, ledger_database, replayed, tables_of, three_bytes
from tests.support.slow import seeds

LABELLED = {"labels", "grades", "accepted_references", "candidate_grades", "coverage"}
PROBLEM = ("archive", "competition", "question_id")


def attempt(question, text, recorded, *, seed=1, archive="a", **more):
    row = archives.attempt(seed, recorded, None, archive=archive, question=question)
    return row | {"text": text, **more}


def run(command, status=0):
    """A command of the tool, in this process."""
    with pytest.raises(SystemExit) as ended:
        main(command.split())
    assert (ended.value.code or 0) == status


# The slow reference.


def complete_boxes(text):
    r"""The normal forms of all complete boxes that are not empty, by where they open."""
    found = []
    for at in range(len(text)):
        if text[at : at + 7] == r"\boxed{":
            parts = reference.tex_tokens(text[at + 6 :])
            end = reference.closing_brace(parts, 0)
            body = None if end is None else reference.slow_normalize("".join(parts[1:end]))
            if body is not None:
                found.append(body)
    return found


def slow_events(rows, settings, encode):
    """Every boundary event, walked attempt by attempt."""
    written = {(*(row[name] for name in PROBLEM), row["seed"]): row for row in rows}
    walks = {}
    for step in reference.compute(rows, **settings)["prefixes"]:
        walk = walks.setdefault((*(step[name] for name in PROBLEM), step["repeat"]), [])
        walk.append((step["position"], step["seed"], step["cost"]))
    events = []
    for (*problem, repeat), walk in walks.items():
        for budget in sorted(set(settings["budgets"])) if repeat > 0 else []:
            spent = 0
            for position, seed, cost in sorted(walk)[: settings["primary_cap"] + 1]:
                if position and spent < budget < spent + cost:
                    row = written[*problem, seed]
                    found = slow_look(row["text"], row["completion_tokens"], budget - spent, encode)
                    events.append((*problem, repeat, budget, seed, budget - spent, *found))
                spent += cost
    return sorted(events)


def slow_look(text, recorded, remaining, encode):
    count = None if text is None else encode(text)[0]
    if count is None or recorded - count not in (0, 1):
        return False, None, None, None
    (prefix,) = encode(text)[1]([remaining])
    boxes = complete_boxes(prefix)
    accepted = reference.slow_normalize(reference.slow_box(prefix)) is not None
    return True, bool(boxes), accepted, boxes[-1] if boxes else None


def slow_table(rows, settings, events):
    found = []
    for archive in sorted({row["archive"] for row in rows}):
        for budget in sorted(set(settings["budgets"])):
            here = [event for event in events if event[0] == archive and event[4] == budget]
            examined, any_boxes, last_boxes = (
                sum(event[column] is True for event in here) for column in (7, 8, 9)
            )
            sizes = (len(here), examined, len(here) - examined, any_boxes, last_boxes)
            found.append((archive, budget, *sizes))
    return found


def wordy_archive(rng):
    """Random attempts whose texts are full of boxes, and whose counts are right, or nearly."""
    rows = random_archive(rng)
    forms = [form for line in ANSWERS[:4] for form in line]
    pieces = ["so ", "✓", "🙂 ", r"\boxed{ ", r"\boxed{}", "} ", "\\\\", "word ", "é"]
    for row in rows:
        if row["text"] is None:
            continue
        text = "".join(
            rf"\boxed{{{rng.choice(forms)}}} " if rng.random() < 0.4 else rng.choice(pieces)
            for _ in range(rng.randrange(8))
        )
        row["text"] = text
        row["completion_tokens"] = max(1, three_bytes(text)[0] + rng.choice((0, 0, 0, 1, 1, 2, -1)))
    return rows


@pytest.mark.parametrize("seed", seeds(2, 3))
def test_events_and_tables_agree_with_a_slow_reference_on_random_archives(tmp_path, seed):
    rng = random.Random(seed)
    rows = wordy_archive(rng)
    settings = able(rows, random_settings(rng))
    with replayed(tmp_path, rows, **settings) as con:
        events = slow_events(rows, settings, three_bytes)
        assert con.sql("from prefix_events order by all").fetchall() == events
        boxes = con.sql(engine.render("prefix_boxes")).fetchall()
        assert boxes == slow_table(rows, settings, events)


# By hand. Every word is a token; one attempt a problem, so that every order is the same:
#   0: so \boxed{4} or \boxed{5} done       5 tokens, recorded 5: the same
#   1: maybe \boxed{7} but \boxed{ 8 }      6 tokens, recorded 7: one more
#   2: two words                            2 tokens, recorded 9: unverified
#   3: no text                              recorded 5: unverified
#   4: one two three \boxed{1}              4 tokens, recorded 3: one less is unverified
WORDS = [
    attempt(0, r"so \boxed{4} or \boxed{5} done", 5, references=["4", "44"]),
    attempt(1, r"maybe \boxed{7} but \boxed{ 8 }", 7),
    attempt(2, "two words", 9),
    attempt(3, None, 5, boxed_answer="6"),
    attempt(4, r"one two three \boxed{1}", 3),
]
# question, budget: examined, any box, last box, answer
BY_HAND = {
    (0, 2): (True, True, True, "4"),  # so \boxed{4}
    (1, 2): (True, True, True, "7"),  # maybe \boxed{7}
    (2, 2): (False, None, None, None),
    (3, 2): (False, None, None, None),
    (4, 2): (False, None, None, None),
    (0, 4): (True, True, True, "5"),  # so \boxed{4} or \boxed{5}
    (1, 4): (True, True, False, "7"),  # maybe \boxed{7} but \boxed{
    (2, 4): (False, None, None, None),
    (3, 4): (False, None, None, None),
    (1, 6): (True, True, True, "8"),  # all of it; the budgets of 0, 3 and 4 are not crossed
    (2, 6): (False, None, None, None),
}
# Two orders: each event counts twice.
TABLE_BY_HAND = """\
archive,budget,boundary_events,examined,unverified,any_box,last_box
a,2,10,4,6,4,4
a,4,8,4,4,4,2
a,6,4,2,2,2,2
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    import tokenizers

    folder = tmp_path_factory.mktemp("words")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.enable_truncation(3)  # Not to be heeded.
    tokenizer.enable_padding(length=99)
    tokenizer.save(str(folder / "words.json"))
    write_parquet(WORDS, folder / "words.parquet")
    with database.connect(folder / "audit.duckdb") as con:
        load(con, [str(folder / "words.parquet")], force=True)
        engine.replay(con, budgets=(2, 4, 6), caps=(3,), primary_cap=3, orders=2, replicates=0)
    return folder


@pytest.fixture
def words(prepared, tmp_path, monkeypatch):
    """A folder with the attempts above, loaded and replayed, and a tokenizer.json of words."""
    for name in ("audit.duckdb", "words.json"):
        shutil.copy(prepared / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_toy_tokenizer_gives_the_counts_worked_out_by_hand(words, capsys):
    run("tokenize --tokenizer words.json")
    assert "17 tokens of 4 attempts counted with words.json sha256:" in capsys.readouterr().out
    with database.connect("audit.duckdb", read_only=True) as con:
        counts = con.execute(
            "select question_id, counted, reconciled from token_counts order by question_id"
        ).fetchall()
        events = con.execute("from prefix_events where repeat = 2").fetchall()
    assert counts == [(0, 5, True), (1, 6, True), (2, 2, False), (4, 4, False)]
    assert {(event[2], event[4]): event[7:] for event in events} == BY_HAND
    assert all(event[4] == event[6] for event in events)  # nothing was spent before
    run("table prefix_boxes --format csv")
    assert capsys.readouterr().out == TABLE_BY_HAND


@pytest.mark.parametrize(
    ("recorded", "reconciled"), [(3, False), (4, True), (5, True), (6, False), (7, False)]
)
def test_a_count_reconciles_when_the_recorded_one_is_equal_or_one_more(recorded, reconciled):
    text = "x" * 12  # four tokens of three bytes
    found = counting.count_text(TOY, ("a", "C", 0, 1), text, recorded, [2])
    assert found.counted == 4
    assert found.reconciled == reconciled
    assert found.cuts == ([(2, False, False, None)] if reconciled else [])


def test_a_new_replay_keeps_the_counts_and_asks_only_for_new_cuts(tmp_path):
    rows = wordy_archive(random.Random(3))
    with replayed(tmp_path, rows, budgets=(10, 20)) as con:
        before = con.sql("from token_counts order by all").fetchall()
        engine.replay(con, budgets=(11, 20), caps=(4,), primary_cap=4, orders=3, replicates=0)
        with pytest.raises(
            AuditError, match="have not been tokenized; run 'budget-audit tokenize'"
        ):
            engine.compute_table(con, "prefix_boxes")
        ((waiting,),) = con.execute(
            "select count(distinct (archive, competition, question_id, seed)) from prefix_events "
            "where examined is null"
        ).fetchall()
        found = tokens.tokenize(con, TOY)
        assert 0 < found.attempts == waiting < len(before)
        after = con.sql("from token_counts order by all").fetchall()
        assert set(before) <= set(after)
        assert len(after) == len({row[:5] for row in after})
        assert engine.compute_table(con, "prefix_boxes").num_rows > 0
        assert tokens.tokenize(con, TOY).attempts == 0


def test_an_interrupted_run_keeps_what_was_committed_and_goes_on_from_there(tmp_path, monkeypatch):
    rows = [attempt(question, rf"\boxed{{{question}}}" + "x" * 30, 14) for question in range(9)]
    with replayed(tmp_path, rows, budgets=(5, 10)) as con:
        expected = {
            name: con.sql(f"from {name} order by all").fetchall()
            for name in ("token_counts", "prefix_cuts", "prefix_events")
        }
        con.execute("delete from token_counts")
        con.execute("delete from prefix_cuts")
        monkeypatch.setattr(tokens.run, "COMMIT_EVERY", 2)
        monkeypatch.setattr(tokens.run, "BATCH_TEXTS", 1)

        def interrupt(label, done, of):
            assert of == 9
            if done == 5:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            tokens.tokenize(con, TOY, progress=interrupt)
        assert con.execute("select count(*) from token_counts").fetchall() == [(4,)]
        with pytest.raises(AuditError, match="not been tokenized"):
            engine.compute_table(con, "prefix_boxes")
        assert tokens.tokenize(con, TOY).attempts == 9 - 4
        for name, kept in expected.items():
            assert con.sql(f"from {name} order by all").fetchall() == kept


@pytest.mark.slow
def test_counts_outlive_a_load_and_go_with_a_replaced_archive(tmp_path):
    rows = [attempt(0, "x" * 30, 10, archive=name) for name in ("a", "b")]
    with replayed(tmp_path, rows, budgets=(4,)) as con:
        write_parquet([attempt(0, "y" * 60, 20, archive="c")], tmp_path / "c.parquet")
        load(con, [str(tmp_path / "c.parquet")], force=True)
        archives = "select distinct archive from {} order by archive"
        assert con.execute(archives.format("token_counts")).fetchall() == [("a",), ("b",)]
        write_parquet([attempt(0, "z" * 90, 30, archive="b")], tmp_path / "b.parquet")
        load(con, [str(tmp_path / "b.parquet")], replace=True, force=True)
        for name in ("token_counts", "prefix_cuts"):
            assert con.execute(archives.format(name)).fetchall() == [("a",)]
        engine.replay(con, budgets=(4,), replicates=0)
        assert tokens.tokenize(con, TOY).tokens == 20 + 30
        assert con.execute(
            "select archive, counted from token_counts order by archive"
        ).fetchall() == [("a", 10), ("b", 30), ("c", 20)]


def test_all_counts_every_text_even_before_there_are_replays(tmp_path):
    rows = wordy_archive(random.Random(6))
    write_parquet(rows, tmp_path / "rows.parquet")
    with database.connect(tmp_path / "audit.duckdb") as con:
        load(con, [str(tmp_path / "rows.parquet")], force=True)
        with pytest.raises(AuditError, match="no replays yet"):
            tokens.tokenize(con, TOY)
        found = tokens.tokenize(con, TOY, everything=True)
        assert found.attempts == sum(row["text"] is not None for row in rows)
        assert found.tokens == sum(three_bytes(row["text"] or "")[0] for row in rows)
        assert tokens.tokenize(con, TOY, everything=True).attempts == 0
        # Counted already, but nothing was cut yet.
        engine.replay(con, budgets=(5, 10), replicates=0)
        assert tokens.tokenize(con, TOY).attempts > 0
        assert engine.count_waiting_events(con, "prefix_boxes") == 0


def test_a_replay_in_another_unit_is_refused_in_one_line(tmp_path):
    with ledger_database(tmp_path, unit="steps", budgets=(1, 2)) as con:
        with pytest.raises(AuditError, match="count steps, and prefixes are cut at completion"):
            tokens.tokenize(con, TOY)
        assert con.execute("select count(*) from token_counts").fetchall() == [(0,)]


def test_events_follow_the_tokenizer_used_last_and_nothing_is_counted_twice(tmp_path):
    letters = tokens.Encoding(
        "letters", lambda text: (len(text), lambda cuts: map(text.__getitem__, map(slice, cuts)))
    )
    with replayed(tmp_path, [attempt(0, "x" * 9, 9)], budgets=(4,), orders=1) as con:
        examined = "select examined from prefix_events"
        assert con.execute(examined).fetchall() == [(False,)]  # three tokens, not nine
        assert tokens.tokenize(con, letters).attempts == 1
        assert con.execute(examined).fetchall() == [(True,)]
        assert tokens.tokenize(con, TOY).attempts == 0
        assert con.execute(examined).fetchall() == [(False,)]
        assert con.execute("select count(*) from token_counts").fetchall() == [(2,)]


def test_the_table_counts_what_it_needs_and_afterwards_only_reads(words, capsys):
    run("table prefix_boxes --format csv --tokenize")
    first = capsys.readouterr().out
    # Eleven words and more are other numbers of o200k tokens: all is unverified.
    assert first.splitlines()[1] == "a,2,10,0,10,0,0"
    before = (words / "audit.duckdb").read_bytes()
    run("table prefix_boxes --format csv")
    assert capsys.readouterr().out == first
    assert (words / "audit.duckdb").read_bytes() == before


def test_an_interrupted_command_says_that_it_can_go_on(words, capsys, monkeypatch):
    def interrupt(*row):
        raise KeyboardInterrupt

    monkeypatch.setattr(counting, "count_text", interrupt)
    run("tokenize --tokenizer words.json", status=130)
    assert capsys.readouterr().err == (
        "error: interrupted; run it again to go on from what is counted\n"
    )


def without(monkeypatch, *libraries):
    """As if these were not installed."""
    for name in libraries:
        monkeypatch.setitem(sys.modules, name, None)
    for build in (encodings.build_o200k, encodings.load_tiktoken):
        build.cache_clear()


def test_without_the_extra_one_line_says_what_to_install_and_other_tables_work(
    words, capsys, monkeypatch
):
    without(monkeypatch, "tiktoken", "splintr", "tokenizers")
    before = (words / "audit.duckdb").read_bytes()
    for command in (
        "tokenize",
        "tokenize --tokenizer words.json",
        "tokenize --tokenizer cl100k_base",
        "table prefix_boxes --tokenize",
    ):
        run(command, status=2)
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "is not installed; run: pip install '" in said and "[tokens]'" in said
    assert (words / "audit.duckdb").read_bytes() == before
    with database.connect("audit.duckdb", read_only=True) as con:
        tables_of(con, set(engine.list_tables()) - {"prefix_boxes"})


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        ("nonsense", "no such encoding; there are .*cl100k_base.*o200k_harmony"),
        ("missing.json", "cannot be read: No such file"),
        ("folder/missing", "cannot be read: No such file"),
        ("broken.json", "not a Hugging Face tokenizer.json"),
        ("cl100k_base", "could not download it .ConnectionError.; o200k_base and o200k_harmony"),
    ],
)
def test_a_tokenizer_that_cannot_be_had_is_named_and_changes_nothing(
    words, monkeypatch, tokenizer, message
):
    import tiktoken

    def no_network(name):
        raise ConnectionError

    monkeypatch.setattr(tiktoken, "get_encoding", no_network)
    encodings.load_tiktoken.cache_clear()
    (words / "broken.json").write_text('{"model": "none"}')
    with database.connect("audit.duckdb") as con:
        before = con.execute("from meta order by key").fetchall()
        with pytest.raises(AuditError, match=message):
            tokens.tokenize(con, tokenizer)
        assert con.execute("from meta order by key").fetchall() == before


def test_what_prefixes_are_made_of_reads_no_label():
    for name in ("boundary_events", "prefix_events", "picks", "awaited", "uncounted"):
        assert not engine.parse_relations(engine.render(name)) & LABELLED, name


# Boxes in a prefix.

PIECES = ("\\boxed{", "}", "{", "5", r"\boxed{}", r"\boxed{7}", "\\", r"\{", " ", r"\text{", "x,y")


def test_every_box_of_a_text_is_found_at_the_token_of_its_closing_brace():
    rng = random.Random(11)
    found = Counter()
    for _ in range(2000):
        text = "".join(rng.choice((*PIECES, "é")) for _ in range(rng.randrange(14)))
        expected = {}
        for end in range(1, len(text) + 1):
            # A box that closes here is complete in this prefix and in none that is shorter.
            inside = [
                body
                for body, close in boxes.complete_boxes(text[:end])
                if close == end - 1 and normalize(text[body:close]) is not None
            ]
            if inside:
                tokens = -(-len(text[:end].encode()) // 3)
                expected[tokens] = normalize(text[inside[0] : end - 1])
        counted = three_bytes(text)[0]
        for recorded in (counted, counted + 1, counted + 2):
            written = counting.find_boxes(TOY, ("a", "C", 0, 0), text, recorded)
            assert written.reconciled == (recorded <= counted + 1)
            assert written.answers == (sorted(expected.items()) if written.reconciled else [])
        found[len(expected)] += 1
    assert min(found[1], found[2]) > 10


def test_boxes_of_texts_become_checkpoints_once(words, capsys):
    run("tokenize --tokenizer words.json --checkpoints")
    said = capsys.readouterr()
    assert "4 checkpoints written in 4 attempts" in said.out
    assert "2 attempts have none" in said.out and "run 'budget-audit replay' again" in said.err
    with database.connect("audit.duckdb", read_only=True) as con:
        rows = con.execute("select question_id, tokens, kind, answer, cost from checkpoints")
        assert sorted(rows.fetchall()) == [
            (0, 2, "written", "4", 0), (0, 4, "written", "5", 0),
            (1, 2, "written", "7", 0), (1, 6, "written", "8", 0),
        ]  # fmt: skip
    run("tokenize --tokenizer words.json --checkpoints")
    assert "0 checkpoints written in 2 attempts" in capsys.readouterr().out


def test_the_last_complete_box_is_the_one_a_slow_search_finds():
    rng = random.Random(7)
    for _ in range(3000):
        text = "".join(rng.choice(PIECES) for _ in range(rng.randrange(14)))
        found = complete_boxes(text)
        answer = counting.find_last_answer(text)
        assert answer == (found[-1] if found else None), text
        expected = (bool(found), boxed_answer(text) is not None, answer)
        assert counting.inspect_boxes(text) == expected, text


# The real encoding. The first four counts are those of OpenAI's own guide to counting tokens.
KNOWN = {
    "antidisestablishmentarianism": 6,
    "2 + 2 = 4": 7,
    "お誕生日おめでとう": 8,
    "hello world": 2,
    "": 0,
    "<|end|>": 5,  # a special token's spelling is text: < | end | >
    "<|start|>assistant<|channel|>final<|message|>": 5 + 1 + 5 + 1 + 5,
    "\r": 1,
    "👨‍👩‍👧": 8,
    r"Therefore the answer is $\boxed{204}$.": 10,
}


# What ends a word, as OpenAI publishes it.
PUBLISHED = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"


@pytest.fixture(scope="module")
def o200k():
    return encodings.build_o200k(encodings.DEFAULT)


@pytest.fixture(scope="module")
def tiktoken_itself():
    import tiktoken

    ranks, _ = encodings.read_o200k_ranks()
    return tiktoken.Encoding(
        "o200k",
        pat_str=encodings.O200K_PATTERN.replace(encodings._CONTRACTION, PUBLISHED),
        mergeable_ranks={token: rank for rank, token in enumerate(ranks)},
        special_tokens={"<|end|>": 200007},
    )


@pytest.mark.parametrize("text", KNOWN)
def test_texts_of_known_length_have_the_known_number_of_tokens(o200k, text):
    assert o200k.encode(text)[0] == KNOWN[text]


def test_a_cut_inside_a_character_drops_it(o200k):
    # Tokens: お | 2 of 3 bytes of 誕 | the third | 生日 | お | め | で | とう
    _, prefixes = o200k.encode("お誕生日おめでとう")
    assert list(prefixes(range(5))) == ["", "お", "お", "お誕", "お誕生日"]


def test_a_text_that_the_tokenizer_gives_up_on_is_unverified():
    class PanicException(BaseException):
        pass

    def give_up(text):
        raise PanicException

    found = counting.count_text(tokens.Encoding("x", give_up), ("a", "C", 0, 1), "text", 5, [3])
    assert found == counting.CountedText(("a", "C", 0, 1), None, False, [])


HOSTILE = (
    "<|end|>", "<|endoftext|>", "\r", "\r\n", "\n\n", " ", "  ", "\t", "\u00a0", "\u202f",
    "\u200b", "\ufeff", "\u3000", "\x85", "\u2028", "\x1c", "\x00", "é", "e\u0301", "数学", "🙂",
    "👨\u200d👩\u200d👧", "🇩🇪", "\U0001d510", "\U0010ffff", "\\boxed{", "}", "'s", "'S", "'LL",
    "'ll", "’s", "\u212a", "İ", "ı", "ß", "\u01c5", "ʰ", "א", "हि", "12345", "٣٤", "½", "Ⅷ", "//",
    "\n/", "a", "Ab", "ABC", "aBC", "===", "$$", "'", "ſ",
)  # fmt: skip


def hostile_text(rng):
    return "".join(
        rng.choice(HOSTILE) * rng.choice((1, 1, 1, 2, 3)) for _ in range(rng.randrange(40))
    )


def test_the_encoding_gives_tiktoken_s_tokens_on_hostile_text(o200k, tiktoken_itself):
    rng = random.Random(1)
    texts = [hostile_text(rng) for _ in range(2000)]
    texts += [f"a{chr(c)}B c{chr(c)} {chr(c)}1\n" for c in range(0x3000)]
    for text in [*texts, "s'ſ'LLe"]:
        ids = tiktoken_itself.encode_ordinary(text)
        count, prefixes = o200k.encode(text)
        assert count == len(ids), ascii(text)
        cuts = [rng.randrange(count + 1) for _ in range(3)]
        assert list(prefixes(cuts)) == [
            tiktoken_itself.decode_bytes(ids[:n]).decode(errors="ignore") for n in cuts
        ], ascii(text)


def test_ranks_that_are_not_the_published_ones_are_refused(monkeypatch):
    monkeypatch.setattr(encodings, "O200K_TOKENS", encodings.O200K_TOKENS - 1)
    with pytest.raises(AuditError, match="other o200k ranks than the published ones"):
        encodings.read_o200k_ranks()


# Other tokenizers.


def test_any_encoding_of_tiktoken_can_be_used(monkeypatch, tiktoken_itself):
    import tiktoken

    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: tiktoken_itself)
    encodings.load_tiktoken.cache_clear()
    encoding = encodings.load_tiktoken("cl100k_base")
    encodings.load_tiktoken.cache_clear()
    count, prefixes = encoding.encode("お誕<|end|>")
    assert count == 3 + 5
    assert list(prefixes([1, 2, 3, 4])) == ["お", "お", "お誕", "お誕<"]


def test_a_tokenizer_json_cuts_whole_characters_and_knows_no_special_token(tmp_path):
    import tokenizers

    alphabet = {letter: number for number, letter in enumerate(
        sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    )}  # fmt: skip
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(alphabet, []))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(["<|end|>"])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<|end|> $A", special_tokens=[("<|end|>", len(alphabet))]
    )
    path = str(tmp_path / "bytes.json")
    tokenizer.save(path)
    count, prefixes = encodings.load_hugging_face(path).encode("a🙂é<|end|>")
    assert count == 1 + 4 + 2 + 7  # every byte is a token
    assert list(prefixes(range(9))) == ["", "a", "a", "a", "a", "a🙂", "a🙂", "a🙂é", "a🙂é<"]
    assert list(prefixes([14, 15])) == ["a🙂é<|end|>"] * 2


def test_the_same_file_name_with_another_content_is_another_encoding(tmp_path):
    path = tmp_path / "tokenizer.json"
    names = []
    for content in ("{}", "{ }"):
        path.write_text(content)
        names.append(encodings.name_encoding(str(path)))
    assert names[0] != names[1]
    assert all(name.startswith("tokenizer.json sha256:") for name in names)
