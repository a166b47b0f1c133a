"""The findings say what their rows say, and the report is whole, escaped and the same each time."""

import csv
import re
import sys
from html.parser import HTMLParser

import pytest

from audit import database, engine
from audit.errors import AuditError
from audit.load.load import load
from audit.report import build, drawing, figures, findings, report, words
from audit.report.timeline import CUT, ledger_words, timeline
from audit.report.wording import number, one_line
from audit.study.simulate import simulate
from tests.support.databases import replayed
from tests.support.hostile import BRACES, IMAGE, SCRIPT, hostile_rows

# Findings, on rows made by hand.


def main_row(archive="a", budget=4000, delta=10.0, low=5.0, high=15.0, **more):
    return {
        "archive": archive,
        "budget": budget,
        "strict_accuracy": 40.0,
        "advisory_accuracy": 40.0 + delta,
        "delta": delta,
        "delta_low": low,
        "delta_high": high,
        "strict_coverage": 45.0,
        "advisory_coverage": 45.0 + delta,
        "delta_coverage": delta,
        "gap_change": 0.0,
        "strict_cost": 4000.0,
        "advisory_cost": 7500.0,
        "strict_cost_ratio": 1.0,
        "advisory_cost_ratio": 1.875,
    } | more


def transition_row(abstain, wrong, harmed, selector="majority"):
    return {
        "archive": "a",
        "budget": 4000,
        "selector": selector,
        "abstain_to_correct": abstain,
        "wrong_to_correct": wrong,
        "correct_to_wrong": harmed,
    }


def cost_row(advisory=4000, strict=8000, delta=3.0, low=1.0, high=5.0, ratio=0.94, **more):
    return {
        "archive": "a",
        "advisory_budget": advisory,
        "strict_budget": strict,
        "advisory_cost": 7485.0,
        "strict_cost": 7940.0,
        "cost_difference": -455.0,
        "cost_difference_low": -1200.0,
        "cost_difference_high": 380.0,
        "cost_ratio": ratio,
        "cost_ratio_low": ratio - 0.05,
        "cost_ratio_high": ratio + 0.05,
        "advisory_accuracy": 50.125,
        "strict_accuracy": 47.0,
        "delta": delta,
        "delta_low": low,
        "delta_high": high,
    } | more


def only(topic):
    (finding,) = topic.findings
    return finding


def test_dominant_effect_names_abstentions_when_they_are_the_largest_part():
    topic = findings.dominant_effect([main_row()], [transition_row(9.0, 2.0, 1.0)], "majority")
    assert "abstain→correct is the largest effect in the one archive" in topic.summary
    assert "abstentions that became correct answers (9.00 of 12.00" in only(topic).sentence
    assert "+10.00 points [5.00, 15.00]" in only(topic).sentence
    assert only(topic).table == "transitions"
    assert only(topic).keys == ["budget = 4000, selector = majority"]


def test_dominant_effect_names_changed_votes_when_they_are_larger():
    topic = findings.dominant_effect([main_row()], [transition_row(1.0, 2.0, 8.0)], "majority")
    assert topic.summary.startswith("Changed votes")
    assert "correct answers that became wrong (8.00 of 11.00" in only(topic).sentence


def test_dominant_effect_reads_the_primary_selector_and_the_smallest_budget_only():
    rows = [main_row(budget=8000, delta=1.0), main_row(budget=4000)]
    other = transition_row(0.0, 0.0, 9.0, selector="max_logprob")
    topic = findings.dominant_effect(rows, [other, transition_row(9.0, 0.0, 0.0)], "majority")
    assert "smallest budget, 4k" in topic.question
    assert "abstain→correct adds 9.00" in only(topic).sentence


def test_dominant_effect_says_so_when_nothing_changed():
    rows = [main_row(delta=0.0, low=0.0, high=0.0)]
    topic = findings.dominant_effect(rows, [transition_row(0.0, 0.0, 0.0)], "majority")
    assert topic.summary == "Nothing changed at 4k: both rules select alike."
    assert "No replay changed between correct and incorrect" in only(topic).sentence


def test_convergence_needs_every_larger_budget_below_the_threshold():
    rows = [
        main_row(budget=4000, delta=1.0),
        main_row(budget=8000, delta=2.0),
        main_row(budget=16000, delta=1.4, low=0.5, high=2.0),
        main_row(budget=32000, delta=-0.4, low=-0.8, high=-0.1),
    ]
    topic = findings.convergence(rows)
    assert only(topic).sentence.startswith("From B = 16k and every larger budget")
    assert only(topic).keys == ["budget = 16000", "budget = 32000"]
    assert "same" not in only(topic).sentence


def test_convergence_says_where_the_attempts_ran_out_before_the_budget():
    spent = main_row(budget=16000, delta=0.5, low=0.1, high=0.9)
    unspent = main_row(budget=32000, delta=0.0, low=0.0, high=0.0, strict_cost_ratio=0.55)
    said = only(findings.convergence([spent, unspent])).sentence
    assert "Strict pays less than B from 32k on" in said and "must agree" in said
    assert "ran out" not in only(findings.convergence([spent])).sentence


def test_convergence_is_denied_while_the_largest_budget_still_differs():
    topic = findings.convergence(
        [main_row(budget=4000, delta=0.1), main_row(budget=8000, delta=1.5)]
    )
    assert "do not converge" in only(topic).sentence
    assert topic.summary.endswith("at any budget replayed.")


def test_convergence_threshold_is_the_one_stated():
    rows = [main_row(delta=2.0)]
    assert "below 2.5 points" in only(findings.convergence(rows, threshold=2.5)).sentence
    assert "do not converge" in only(findings.convergence(rows, threshold=2.0)).sentence


@pytest.mark.parametrize(
    ("low", "high", "words_used"),
    [
        (-0.5, 0.5, "does not exclude no change"),
        (0.0, 0.5, "does not exclude no change"),
        (0.1, 0.5, "excludes zero"),
        (-0.5, -0.1, "excludes zero"),
        (None, None, "there is no interval"),
    ],
)
def test_an_interval_with_zero_is_never_called_equal(low, high, words_used):
    row = main_row(delta=0.3, low=low, high=high)
    said = findings.interval_words(row)
    assert words_used in said
    everything = " ".join(
        finding.sentence
        for topic in (
            findings.convergence([row]),
            findings.dominant_effect([row], [transition_row(0.5, 0.0, 0.2)], "majority"),
        )
        for finding in topic.findings
    )
    assert not re.search(r"\b(equal|equivalent|identical)\b", everything)


def selector_row(delta, low, high, selector="max_logprob", budget=4000):
    return {
        "archive": "a",
        "budget": budget,
        "selector": selector,
        "delta": delta,
        "delta_low": low,
        "delta_high": high,
    }


def test_coverage_and_accuracy_part_where_a_selector_loses_while_coverage_rises():
    main = [main_row(delta_coverage=0.88)]
    topic = findings.coverage_and_accuracy(
        main, [selector_row(-0.71, -1.29, -0.17), selector_row(0.5, 0.1, 0.9, "majority")]
    )
    first, second = topic.findings
    assert "max_logprob loses accuracy (−0.71 points [−1.29, −0.17])" in first.sentence
    assert "coverage rises by 0.88; the interval excludes zero." in first.sentence
    assert (first.table, first.keys) == ("selectors", ["budget = 4000, selector = max_logprob"])
    assert second.table == "main"
    assert "the interval excludes zero in the one archive" in topic.summary


def test_coverage_and_accuracy_do_not_part_where_coverage_stands_still():
    main = [main_row(delta_coverage=0.0)]
    topic = findings.coverage_and_accuracy(main, [selector_row(-0.71, -1.29, -0.17)])
    assert topic.summary == "No selector loses accuracy where coverage rises."


def test_a_loss_that_may_be_none_is_reported_as_such():
    topic = findings.coverage_and_accuracy([main_row()], [selector_row(-0.2, -0.9, 0.3)])
    assert "does not exclude no change" in topic.findings[0].sentence
    assert "no such interval excludes zero" in topic.summary


def test_the_clearest_loss_stands_for_the_others():
    losses = [
        selector_row(-2.0, -4.0, 0.5, "archive_majority"),
        selector_row(-0.5, -0.9, -0.1),
        selector_row(-0.1, -0.9, 0.7, "majority"),
    ]
    first = findings.coverage_and_accuracy([main_row()], losses).findings[0]
    assert "max_logprob loses accuracy (−0.50" in first.sentence
    assert first.sentence.endswith("So do 2 other pairs of budget and selector.")


def test_the_gap_is_reported_at_the_budget_where_it_widens_most():
    rows = [main_row(gap_change=0.5), main_row(budget=8000, gap_change=4.5)]
    topic = findings.coverage_and_accuracy(rows, [])
    assert "most at B = 8k" in only(topic).sentence
    assert "widens by 4.50 points" in only(topic).sentence
    flat = findings.coverage_and_accuracy([main_row(gap_change=-0.5)], [])
    assert only(flat).sentence.startswith("At no budget does coverage rise more")


def test_realized_cost_reports_an_advisory_budget_that_beats_a_larger_strict_one():
    topic = findings.realized_cost([cost_row()], [])
    sentence = only(topic).sentence
    assert "reaches 50.13 % for 7,485 tokens" in sentence
    assert "larger B = 8k reaches 47.00 % for 7,940" in sentence
    assert "−455 tokens [−1,200, 380]: that cost interval contains zero" in sentence
    assert only(topic).keys == ["advisory_budget = 4000, strict_budget = 8000"]


def test_realized_cost_says_when_the_cost_interval_has_no_zero():
    row = cost_row(cost_difference_low=-1200.0, cost_difference_high=-100.0)
    assert "has no zero in it" in only(findings.realized_cost([row], [])).sentence


@pytest.mark.parametrize(
    "row",
    [
        cost_row(delta=-1.0, low=-2.0, high=-0.5),
        cost_row(ratio=1.06),
        cost_row(advisory=8000, strict=8000),
        cost_row(advisory=8000, strict=4000),
    ],
    ids=["less accurate", "dearer", "same budget", "smaller strict budget"],
)
def test_realized_cost_claims_nothing_else(row):
    topic = findings.realized_cost([row], [])
    assert topic.summary.startswith("No advisory budget scores higher")
    assert only(topic).keys == []


def test_a_cheaper_budget_with_a_small_difference_is_not_called_equivalent():
    row = cost_row(strict=32000, delta=-0.42, low=-1.17, high=0.25, ratio=0.59)
    _, near = findings.realized_cost([row], []).findings
    assert "spends 0.59 [0.54, 0.64] times the tokens" in near.sentence
    assert "does not exclude no difference, and does not show that the two are equivalent" in (
        near.sentence
    )


def test_interpolation_says_which_side_and_that_the_line_is_assumed():
    row = {
        "archive": "a",
        "advisory_budget": 4000,
        "left_budget": 4000,
        "right_budget": 8000,
        "delta": -4.28,
        "delta_low": -6.0,
        "delta_high": 1.0,
    }
    last = findings.realized_cost([cost_row()], [row]).findings[-1]
    assert "4.28 points below the straight line between strict 4k and 8k" in last.sentence
    assert "does not exclude no difference" in last.sentence
    assert "bends" in last.sentence
    assert last.table == "interpolation"


def test_unfinished_prefixes_quotes_the_first_and_last_budget():
    rows = [
        {"archive": "a", "budget": 4000, "prefix_tokens": 1585.4, "prefix_share": 39.83},
        {"archive": "a", "budget": 32000, "prefix_tokens": 3436.0, "prefix_share": 13.29},
    ]
    topic = findings.unfinished_prefixes(rows)
    assert topic.summary == "39.83 % of its tokens at 4k."
    assert "(1,585 tokens per replay); at 32k it is 13.29 %" in only(topic).sentence
    assert findings.unfinished_prefixes([]) is None


@pytest.mark.parametrize(
    ("capped", "said"),
    [(768, "768 of 2,400 replays (32.00 %) begin"), (0, "No replay begins with an attempt")],
)
def test_truncation_reports_the_floor_at_the_largest_budget(capped, said):
    rows = [
        {"archive": "a", "budget": b, "replays": 2400, "capped_first": c, "advisory_abstention": 32}
        for b, c in ((4000, 900), (32000, capped))
    ]
    assert said in only(findings.truncation(rows)).sentence


def test_grading_needs_references_to_say_anything():
    grades = [{"archive": "a", "budget": 4000, "change": 0.0833}]
    repairs = [{"archive": "a", "adjusted_labels": 17, "conflict_groups": 2, "resolved_groups": 2}]
    with_references = findings.grading(grades, repairs, ["a"])
    assert with_references.summary.endswith("at most 0.083 points.")
    assert "adjusts 17 labels; 2 answers carry both labels, 2 of them settled" in (
        only(with_references).sentence
    )
    nothing = [repairs[0] | {"adjusted_labels": 0, "conflict_groups": 1, "resolved_groups": 0}]
    without = findings.grading([grades[0] | {"change": 0.0}], nothing, [])
    assert "cannot be told" in without.summary
    assert "no label can be repaired; 1 answer carries both labels" in only(without).sentence


def test_control_checks_tell_a_failure_apart():
    row = {
        "control": "aligned_cost",
        "selector": "majority",
        "comparisons": 60480,
        "disagreements": 0,
    }
    assert "in all 60,480 comparisons" in only(findings.control_checks([row])).sentence
    failed = findings.control_checks([row | {"disagreements": 3}])
    assert failed.summary.startswith("A control fails")
    assert "3 of 60,480 comparisons disagree" in only(failed).sentence


def test_archives_are_counted_in_words():
    rows = [main_row("a", delta=0.1), main_row("b", delta=9.0), main_row("c", delta=0.2)]
    assert "in 2 of 3 archives" in findings.convergence(rows).summary
    assert "in both archives" in findings.convergence([rows[0], rows[2]]).summary


# The report, from databases.


class Page(HTMLParser):
    """What a page holds: its tags, its text, its ids, and every address it could fetch."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.addresses, self.text = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "srcset", "data", "action", "poster"):
                self.addresses.append(value)
            assert not name.startswith("on")

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A database whose text tries to break out, and its report in every format."""
    folder = tmp_path_factory.mktemp("hostile")
    with replayed(folder, hostile_rows(), budgets=(10, 20, 45, 2000)) as con:
        report(con, folder / "report", build.FORMATS)
        yield con, folder / "report"


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """A simulated database, replayed with few resamples."""
    folder = tmp_path_factory.mktemp("simulated")
    con = database.connect(folder / "audit.duckdb")
    load(con, [str(path) for path in simulate(folder, problems=3, attempts=12)])
    engine.replay(con, orders=4, replicates=50)
    yield con
    con.close()


@pytest.fixture
def plain(monkeypatch):
    """A report without figures, for tests that only read its words."""
    monkeypatch.setattr(build, "_figures", lambda con, known: [])


def test_html_escapes_what_archives_say(hostile):
    _, folder = hostile
    text = (folder / "report.html").read_text()
    page = Page(text)
    said = " ".join(page.text)
    assert SCRIPT in said and BRACES in said and IMAGE in said
    assert "img" not in page.tags
    assert page.tags.count("script") == 3
    assert "49 {%" not in text
    assert SCRIPT not in text


def test_html_holds_no_address_to_fetch(hostile):
    _, folder = hostile
    text = (folder / "report.html").read_text()
    outside = [a for a in Page(text).addresses if not a.startswith("#") and a != "data:,"]
    assert outside == []
    assert not re.search(r"@import|url\((?!#)", text[: text.index("<script")])
    assert "default-src 'none'" in text


def test_html_shows_every_table_and_figure_once(hostile):
    _, folder = hostile
    ids = Page((folder / "report.html").read_text()).ids
    assert len(ids) == len(set(ids))
    for name in engine.table_names():
        assert f"table-{name}" in ids
    for name in words.FIGURES:
        assert f"figure-{name}" in ids


def test_every_table_is_explained(hostile):
    _, folder = hostile
    text = (folder / "report.md").read_text()
    for name in engine.table_names():
        heading = build.md_text(name)
        assert re.search(rf"^### {re.escape(heading)}\n\n[A-Z].*[.?]\n\n", text, re.MULTILINE), name


def test_a_table_that_cannot_be_had_is_named_with_the_reason(hostile, plain, monkeypatch, tmp_path):
    con, _ = hostile
    whole = engine.table

    def without_pools(con, name):
        if name == "pools":
            raise AuditError("pools needs rain")
        return whole(con, name)

    monkeypatch.setattr(engine, "table", without_pools)
    report(con, tmp_path, ("md",))
    assert "Not available: pools needs rain" in (tmp_path / "report.md").read_text()


def test_findings_point_to_tables_that_the_page_holds(hostile):
    _, folder = hostile
    page = Page((folder / "report.html").read_text())
    inside = {address[1:] for address in page.addresses if address.startswith("#")}
    assert {"table-main", "findings"} <= inside
    assert inside <= set(page.ids)


def test_markdown_and_latex_escape_what_archives_say(hostile):
    _, folder = hostile
    markdown = (folder / "report.md").read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in markdown
    assert "<script" not in markdown and "<img" not in markdown
    assert r"\| \*b\* \_u\_ \#1 50% \$x^2\$ \~ \\" in markdown
    latex = (folder / "report.tex").read_text()
    assert r"\textless{}script\textgreater{}" in latex
    assert r"\_u\_ \#1 50\% \$x\textasciicircum{}2\$ \textasciitilde{}" in latex
    assert r"\DeclareUnicodeCharacter{6570}{[U+6570]\allowbreak{}}" in latex
    assert "DeclareUnicodeCharacter{010C}" not in latex


def test_markdown_tables_keep_their_columns(hostile):
    _, folder = hostile
    blocks = re.findall(r"(?:^\|.*\n)+", (folder / "report.md").read_text(), re.MULTILINE)
    assert len(blocks) > 15
    for block in blocks:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1, block


def test_figures_stand_beside_markdown_and_latex(hostile):
    _, folder = hostile
    latex = (folder / "report.tex").read_text()
    markdown = (folder / "report.md").read_text()
    for name in words.FIGURES:
        assert f"figures/{name}.pdf" in latex and f"figures/{name}.svg" in markdown
        assert (folder / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert (folder / "figures" / f"{name}.svg").read_text().startswith("<svg")


def test_csv_holds_every_table_at_full_precision(hostile):
    con, folder = hostile
    # prefix_boxes needs the tokens counted first.
    available = set(engine.table_names()) - {"prefix_boxes"}
    assert {path.stem for path in (folder / "csv").iterdir()} - {"prefix_boxes"} == available
    with (folder / "csv" / "main.csv").open() as file:
        rows = list(csv.DictReader(file))
    expected = engine.table(con, "main").to_pylist()
    assert [float(row["delta_low"]) for row in rows] == [row["delta_low"] for row in expected]


def test_no_part_file_is_left_behind(hostile):
    _, folder = hostile
    assert [path for path in folder.rglob("*") if ".part" in path.name] == []


def test_the_same_database_gives_the_same_bytes(hostile, tmp_path):
    con, folder = hostile
    for path in report(con, tmp_path, build.FORMATS):
        assert path.read_bytes() == (folder / path.relative_to(tmp_path)).read_bytes(), path.name


def test_real_data_carry_no_simulated_mark(hostile):
    _, folder = hostile
    for name in ("report.html", "report.md", "report.tex"):
        assert "SIMULATED" not in (folder / name).read_text()


def test_simulated_data_are_marked_everywhere(simulated, tmp_path):
    report(simulated, tmp_path, ("html", "md", "tex"))
    html = (tmp_path / "report.html").read_text()
    page = Page(html)
    assert "<title>SIMULATED DATA" in html
    assert html.index('class="simulated"') < html.index("<h1>")
    assert 'class="watermark"' in html
    # Each figure is drawn wide and narrow, and once more by its specification.
    assert sum("SIMULATED DATA, not a model" in text for text in page.text) >= 8
    assert "SIMULATED DATA" in (tmp_path / "report.md").read_text().splitlines()[0]
    latex = (tmp_path / "report.tex").read_text()
    assert r"\pagestyle{simulated}" in latex and r"\title{SIMULATED DATA" in latex
    for path in (tmp_path / "figures").glob("*.svg"):
        assert "SIMULATED DATA" in path.read_text()


def test_missing_selectors_and_references_are_explained(hostile):
    _, folder = hostile
    markdown = (folder / "report.md").read_text()
    assert "max\\_logprob is left out for" in markdown
    assert "no finite log-probability of an eligible attempt is recorded" in markdown
    assert "No accepted references were loaded" in markdown


def test_a_long_table_is_cut_with_a_hint(hostile, plain, monkeypatch, tmp_path):
    con, _ = hostile
    monkeypatch.setattr(build, "MOST_ROWS", 3)
    report(con, tmp_path, ("md",))
    text = (tmp_path / "report.md").read_text()
    total = engine.table(con, "curves").num_rows
    assert f"The first 3 of {total} rows; budget-audit export curves --out DIR writes" in text


def test_without_random_orders_the_report_says_why_tables_are_empty(plain, tmp_path):
    with replayed(tmp_path, hostile_rows(), orders=0, replicates=0) as con:
        report(con, tmp_path / "report", ("md",))
    text = (tmp_path / "report" / "report.md").read_text()
    assert "No random orders were replayed (--orders 0)" in text
    assert "Where do the two rules converge?" not in text


def test_without_resamples_the_report_says_why_intervals_are_missing(plain, tmp_path):
    with replayed(tmp_path, hostile_rows(), replicates=0) as con:
        report(con, tmp_path / "report", ("md",))
    text = (tmp_path / "report" / "report.md").read_text()
    assert "no bootstrap replicates were drawn (--replicates 0)" in text
    assert "[]" not in text and "| None |" not in text


def test_numbers_round_halves_up_and_carry_their_interval(simulated, plain):
    sections = build._content(simulated, *build._tables(simulated))["sections"]
    (main,) = (section for section in sections if section.name == "main")
    cells = dict(zip([column.header for column in main.columns], main.rows[0], strict=True))
    row = engine.table(simulated, "main").to_pylist()[0]
    text, numeric = cells["delta"]
    shown = [number(row[name]) for name in ("delta", "delta_low", "delta_high")]
    assert build.minus(text) == f"{shown[0]} [{shown[1]}, {shown[2]}]" and numeric
    assert number(50.125) == "50.13" and number(-0.705) == "−0.71"


def test_joint_table_puts_cost_counts_rule_and_selector_side_by_side(simulated, plain):
    content = build._content(simulated, *build._tables(simulated))
    joint = content["joint"]
    headers = [column.header for column in joint.columns]
    curves = engine.table(simulated, "curves").to_pylist()
    pools = engine.table(simulated, "pools").to_pylist()
    assert joint.shown == len(curves)
    first = dict(zip(headers, (text for text, _ in joint.rows[0]), strict=True))
    strict = next(row for row in curves if row["rule"] == "strict")
    assert first["stopping rule"] == "strict" and first["selector"] == "majority"
    assert first["at most K attempts"] == "16"
    assert first["completion tokens"] == number(strict["cost"], 0)
    assert first["eligible"] == number(pools[0]["strict_eligible"])
    launched = simulated.execute(
        "select avg(launched) from replays where archive = ? and budget = ? and cap = 16"
        " and repeat > 0 and rule = 'strict'",
        [strict["archive"], strict["budget"]],
    ).fetchall()
    assert first["launched"] == number(launched[0][0])


def test_provenance_names_sources_hashes_settings_and_versions(hostile):
    con, folder = hostile
    said = " ".join(Page((folder / "report.html").read_text()).text)
    ((file, digest, size),) = con.execute(
        "select distinct parse_filename(file), sha256, bytes from sources"
    ).fetchall()
    for text in (file, digest, f"{size:,}", "order_seed", "20260904", "bootstrap_seed", "20260905"):
        assert text in said, text


def test_columns_under_another_name_are_listed_and_others_are_not():
    assert build._renamed('{"seed": "sample", "archive": "archive"}') == "seed: sample"
    assert build._renamed('{"archive": "archive"}') == "" and build._renamed(None) == ""


def test_unknown_format_is_refused_with_the_list(hostile, tmp_path):
    con, _ = hostile
    with pytest.raises(AuditError, match="no format 'pdf'; there are html, md, tex, csv"):
        report(con, tmp_path, ("html", "pdf"))
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_html_is_refused_and_text_still_works(hostile, tmp_path, monkeypatch):
    con, _ = hostile
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(AuditError, match=re.escape("[report]'")):
        report(con, tmp_path, ("html",))
    with pytest.raises(AuditError, match=re.escape("[report]'")):
        figures.budget_curves(con)
    written = report(con, tmp_path, ("md", "tex", "csv"))
    assert {path.name for path in written} >= {"report.md", "report.tex", "main.csv"}
    assert not (tmp_path / "figures").exists()
    assert "pip install" in (tmp_path / "report.md").read_text()


def test_a_database_without_replays_is_refused(tmp_path):
    con = database.connect(tmp_path / "empty.duckdb")
    with pytest.raises(AuditError, match="load"):
        report(con, tmp_path / "report", ("md",))
    con.close()


# Figures.


def all_rows(spec):
    """Every row of data in a specification, wherever it stands."""
    found = []

    def walk(node):
        if isinstance(node, dict):
            for name, value in node.items():
                if name == "values" and isinstance(value, list):
                    found.extend(row for row in value if isinstance(row, dict))
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk({name: part for name, part in spec.items() if name != "datasets"})
    return [*found, *(row for rows in spec.get("datasets", {}).values() for row in rows)]


def test_budget_curves_draw_the_rows_of_the_table(simulated):
    drawn = all_rows(drawing.vega_lite_spec(figures.budget_curves(simulated)))
    for row in engine.table(simulated, "curves").to_pylist():
        key = (row["archive"], row["budget"], row["rule"])
        same = [r for r in drawn if (r.get("archive"), r.get("budget"), r.get("rule")) == key]
        assert same and all(r["accuracy"] == row["accuracy"] for r in same)


def test_cost_accuracy_draws_each_interpolation(simulated):
    drawn = all_rows(drawing.vega_lite_spec(figures.cost_accuracy(simulated)))
    expected = engine.table(simulated, "interpolation").to_pylist()
    assert expected
    shown = [row["interpolated"] for row in drawn if "interpolated" in row]
    assert {row["interpolated_accuracy"] for row in expected} == set(shown)


def test_length_strata_draw_both_halves_with_intervals(simulated):
    drawn = all_rows(drawing.vega_lite_spec(figures.length_strata(simulated)))
    assert {row["stratum"] for row in drawn if "stratum" in row} == {"shorter", "longer"}
    assert all(row["delta_low"] <= row["delta_high"] for row in drawn if "delta_low" in row)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf", ".html"])
def test_save_figure_writes_by_suffix(hostile, tmp_path, suffix):
    con, _ = hostile
    path = figures.save_figure(timeline(con), tmp_path / "new" / f"figure{suffix}")
    start = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!doctype html>"}
    content = path.read_bytes()
    assert content.startswith(start[suffix])
    if suffix == ".html":
        assert [a for a in Page(content.decode()).addresses if a != "data:,"] == []


def test_save_figure_refuses_another_suffix(tmp_path):
    with pytest.raises(AuditError, match=r"\.svg, \.pdf, \.png, \.html"):
        figures.save_figure({}, tmp_path / "figure.gif")


def test_timeline_draws_the_ledger_of_its_replay(simulated):
    ((archive, competition, question, repeat, budget),) = simulated.execute(
        """
        select archive, competition, question_id, repeat, budget from replays
        where rule = 'strict' and cap = 16 and prefix_tokens > 0 and returned > 0 and repeat > 0
        order by all limit 1
        """
    ).fetchall()
    spec = drawing.vega_lite_spec(
        timeline(simulated, archive, competition, question, repeat, budget)
    )
    drawn = all_rows(spec)
    rules = {
        row[0]: row[1:]
        for row in simulated.execute(
            """
            select rule, launched, returned, completion_cost, prefix_tokens from replays
            where archive = ? and competition = ? and question_id = ? and repeat = ?
                and budget = ? and cap = 16
            """,
            [archive, competition, question, repeat, budget],
        ).fetchall()
    }
    cut = [row for row in drawn if row.get("kind") == CUT]
    assert [row["stop"] - row["start"] for row in cut] == [rules["strict"][3]]
    text = " ".join(row["text"] for row in drawn if "weight" in row)
    assert f"Pays {rules['strict'][2]:,} tokens, {rules['strict'][3]:,} of them" in text
    assert f"Pays {rules['advisory'][2]:,} tokens" in text
    past = [row for row in drawn if "past B" in str(row.get("text"))]
    assert past[0]["to"] - past[0]["from"] == rules["advisory"][2] - budget


def test_timeline_without_a_key_draws_the_first_replay(simulated):
    spec = drawing.vega_lite_spec(timeline(simulated))
    subtitle = " ".join(spec["title"]["subtitle"])
    assert "simulated_high · AIME24 question 0 · canonical order · at most 16 attempts" in subtitle


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({"archive": "nope"}, "no archive nope; there are: simulated_high, simulated_low"),
        ({"competition": "nope"}, "no competition nope in simulated_high; there are: AIME24"),
        ({"question": 99}, "no question 99 in simulated_high, AIME24; there are: 0, 1, 2"),
        ({"repeat": 7}, "no repeat 7; there are: 0, 1, 2, 3, 4"),
        ({"budget": 5}, "no budget 5; there are: 4000, 8000, 16000, 32000"),
        ({"cap": 5}, "no attempt cap 5; there are: 8, 16, 32"),
    ],
)
def test_timeline_names_what_exists(simulated, key, message):
    with pytest.raises(AuditError, match=re.escape(message)):
        timeline(simulated, **key)


def test_ledger_words_tell_abstention_overshoot_and_an_exhausted_bank():
    bank = [{"position": 1, "seed": 4}]
    row = {
        "budget": 4000,
        "completion_cost": 4000,
        "prefix_tokens": 1500,
        "launched": 2,
        "returned": 1,
        "eligible": 0,
        "abstained": True,
    }
    paid, chosen = ledger_words(row, bank)
    assert paid == (
        "Pays 4,000 tokens, 1,500 of them for an attempt cut at B; "
        "returns 1 attempt of 2 launched, 0 eligible."
    )
    assert "abstains" in chosen
    won = {"abstained": False, "seed": 4, "answer": "7", "correct": True, "prefix_tokens": 0}
    paid, chosen = ledger_words(row | won | {"completion_cost": 5032}, bank)
    assert "1,032 of them past B" in paid
    assert chosen == "Selects attempt 1 (seed 4): 7, correct."
    assert "400 short of B" in ledger_words(row | won | {"completion_cost": 3600}, bank)[0]


def test_text_from_archives_is_put_on_one_line():
    assert one_line("a\nb\tc\x00d") == "a b c d"
    assert one_line("x" * 80, 10) == "x" * 9 + "…"
