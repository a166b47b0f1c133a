"""The report is whole, escaped and the same each time."""

import csv
import json
import re
import sys

import pyarrow as pa
import pytest

from audit import api, database, engine
from audit.engine import quality
from audit.errors import AuditError
from audit.output import export
from audit.output.display import display_columns, escape_md
from audit.report import build, captions, content, data, figures, report
from audit.report.explorer import pack, page
from audit.report.explorer.page import SCRIPTS
from audit.report.findings import write_key
from audit.report.wording import render_line
from audit.rules import describe_rule
from audit.units import UNITS
from tests.support.hostile import BRACES, IMAGE, SCRIPT
from tests.support.pages import Page, packed_tables, packed_walks


@pytest.fixture
def plain(monkeypatch):
    """A report without figures, for tests that only read its words."""
    monkeypatch.setattr(build, "_draw_figures", lambda con, known: [])


def test_html_carries_what_archives_say_as_data(hostile):
    _, folder = hostile
    text = (folder / "report.html").read_text()
    page = Page(text)
    assert "img" not in page.tags
    assert page.tags.count("script") == 2 + len(SCRIPTS)
    assert SCRIPT not in text and IMAGE not in text and "49 {%" not in text
    walks = packed_walks(text)
    assert {SCRIPT, BRACES} == set(walks["words"]["bank_archive"])
    assert IMAGE in walks["words"]["answer"]
    assert SCRIPT in json.dumps(packed_tables(text))


def test_html_holds_no_address_to_fetch(hostile):
    _, folder = hostile
    text = (folder / "report.html").read_text()
    outside = [a for a in Page(text).addresses if not a.startswith("#") and a != "data:,"]
    assert outside == []
    assert not re.search(r"@import|url\((?!#)", text[: text.index("<script")])
    assert "default-src 'none'" in text


def test_html_holds_every_table_once_as_printed_and_as_exported(hostile):
    con, folder = hostile
    text = (folder / "report.html").read_text()
    ids = Page(text).ids
    assert len(ids) == len(set(ids))
    tables = {table["name"]: table for table in packed_tables(text)["tables"]}
    assert set(engine.list_tables()) <= set(tables)
    main = engine.compute_table(con, "main")
    assert tables["main"]["values"] == main.to_pydict()
    labels = [column["label"] for column in tables["main"]["columns"]]
    assert labels == [column.heading for column in display_columns("main", main)]


@pytest.mark.slow
def test_a_page_too_large_keeps_fewer_orders_and_replicates_and_says_so(
    hostile, remembered, monkeypatch, tmp_path
):
    con, _ = hostile
    monkeypatch.setattr(pack, "MOST_SELECTIONS", 3 * 4 * 8 * 3)
    monkeypatch.setattr(pack, "MOST_COUNTS", 10)
    report(con, tmp_path)
    text = (tmp_path / "report.html").read_text()
    walks = packed_walks(text)
    assert (walks["orders"], walks["replicates"]) == (2, 5)
    assert "keeps the first 2 of 3 orders" in text
    assert "keeps the first 5 of 20 bootstrap replicates" in text
    monkeypatch.setattr(pack, "MOST_SELECTIONS", 10)
    report(con, tmp_path)
    text = (tmp_path / "report.html").read_text()
    assert 'id="walks"' not in text and "too many for a page" in text


def test_data_quality_stands_at_the_top_of_the_page_a_line_each_cause(hostile):
    con, folder = hostile
    text = (folder / "report.html").read_text()
    found = quality.find_findings(con, moment="report")
    assert {row.severity for row in found} >= {"warn"}
    said = Page(text).text
    assert all(
        line.removeprefix("warn: ") in said
        for line in quality.write_lines(found, UNITS["completion"])
    )
    marked = packed_tables(text)["quality"]
    assert {name: set(words.split("; ")) for name, words in marked.items()} == {
        name: {row.check.replace("_", " ") for row in found if row.archive == name}
        for name in marked
    }
    assert set(marked) == {row.archive for row in found}


def test_a_page_of_many_archives_asks_only_for_the_tables_that_it_reads(
    hostile, remembered, monkeypatch, tmp_path
):
    con, folder = hostile
    few = packed_tables((folder / "report.html").read_text())
    assert "overview" not in (folder / "report.html").read_text()
    asked = []
    whole = engine.compute_table
    monkeypatch.setattr(
        engine, "compute_table", lambda con, name: asked.append(name) or whole(con, name)
    )
    monkeypatch.setattr(page, "MOST_PAIRED", 1)
    monkeypatch.setattr(page, "MOST_IN_FULL", 1)
    report(con, tmp_path)
    assert sorted(asked) == sorted(page.PAGE_TABLES)
    text = (tmp_path / "report.html").read_text()
    assert "A page of 2 archives is an overview" in text
    many = packed_tables(text)
    kept = {table["name"]: table for table in many["tables"]}
    assert set(kept) >= set(engine.list_tables())
    assert kept["majority_rules"]["rows"] == 0 and not kept["majority_rules"]["values"]
    assert kept["majority_rules"]["notes"] == [
        "Not available: left out with more than 1 archives; "
        "budget-audit table majority_rules prints it."
    ]
    # Every sentence is there, and the answers to the questions come before those about archives.
    assert sorted(map(json.dumps, many["findings"])) == sorted(map(json.dumps, few["findings"]))
    about = [finding["source"] == "" for finding in many["findings"]]
    assert about == sorted(about, reverse=True) and not about[-1]


def test_pairs_of_many_archives_are_left_out_of_every_form(
    hostile, remembered, plain, monkeypatch, tmp_path
):
    con, _ = hostile
    monkeypatch.setattr(export, "MOST_PAIRED_UNNAMED", 1)
    report(con, tmp_path, ("md", "csv"))
    assert not (tmp_path / "csv" / "archive_comparisons.csv").exists()
    assert not (tmp_path / "csv" / "power.csv").exists()
    assert "2 archives make 1 pairs" in (tmp_path / "report.md").read_text()


def test_a_filter_that_names_all_archives_is_none(hostile, remembered, tmp_path):
    con, _ = hostile
    api.report(con, tmp_path / "all", archive="*")
    api.report(con, tmp_path / "unnamed")
    pages = [(tmp_path / name / "report.html").read_bytes() for name in ("all", "unnamed")]
    assert pages[0] == pages[1]


def test_the_title_is_the_users_or_the_datas(hostile, remembered, tmp_path):
    con, folder = hostile
    assert "<h1>Budget audit of small</h1>" in (folder / "report.html").read_text()
    report(con, tmp_path, title="Mine & <yours>")
    text = (tmp_path / "report.html").read_text()
    assert "<title>Mine &amp; &lt;yours&gt;</title>" in text


def test_building_tells_how_far_it_is(hostile, remembered, tmp_path):
    con, _ = hostile
    told = []
    report(con, tmp_path, progress=lambda what, done, total: told.append((what, done, total)))
    assert told[0][1] == 0 and told[-1][0] == "done" and told[-1][1] == told[-1][2]
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_every_table_is_explained(hostile):
    _, folder = hostile
    text = (folder / "report.md").read_text()
    for name in engine.list_tables():
        heading = escape_md(name)
        assert re.search(rf"^### {re.escape(heading)}\n\n[A-Z].*[.?]\n\n", text, re.MULTILINE), name


def test_a_table_that_cannot_be_had_is_named_with_the_reason(
    hostile, remembered, plain, monkeypatch, tmp_path
):
    con, _ = hostile
    whole = engine.compute_table

    def without_pools(con, name):
        if name == "pools":
            raise AuditError("pools needs rain")
        return whole(con, name)

    monkeypatch.setattr(engine, "compute_table", without_pools)
    report(con, tmp_path, ("md",))
    assert "Not available: pools needs rain" in (tmp_path / "report.md").read_text()


def test_findings_point_to_tables_that_the_page_holds(hostile):
    _, folder = hostile
    packed = packed_tables((folder / "report.html").read_text())
    names = {table["name"] for table in packed["tables"]}
    sources = [finding["source"] for finding in packed["findings"] if finding["source"]]
    assert sources and {re.match(r"check: table (\w+)", text)[1] for text in sources} <= names


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
    # Without policies there is nothing to draw of them.
    for name in set(captions.FIGURES) - {"policies"}:
        assert f"figures/{name}.pdf" in latex and f"figures/{name}.svg" in markdown
        assert (folder / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert (folder / "figures" / f"{name}.svg").read_text().startswith("<svg")


def test_csv_holds_every_table_at_full_precision(hostile):
    con, folder = hostile
    # prefix_boxes needs the tokens counted first.
    available = set(engine.list_tables()) - {"prefix_boxes"}
    assert {path.stem for path in (folder / "csv").iterdir()} - {"prefix_boxes"} == available
    with (folder / "csv" / "main.csv").open() as file:
        rows = list(csv.DictReader(file))
    expected = engine.compute_table(con, "main").to_pylist()
    assert [float(row["delta_low"]) for row in rows] == [row["delta_low"] for row in expected]


def test_real_data_carry_no_simulated_mark(hostile):
    _, folder = hostile
    for name in ("report.html", "report.md", "report.tex"):
        assert "SIMULATED" not in (folder / name).read_text()


def test_simulated_data_are_marked_everywhere(simulated, tmp_path):
    report(simulated, tmp_path, ("html", "md", "tex"))
    html = (tmp_path / "report.html").read_text()
    assert "<title>SIMULATED DATA" in html
    assert html.index('class="simulated"') < html.index("<h1>")
    assert 'class="watermark"' in html
    assert "SIMULATED DATA" in (tmp_path / "report.md").read_text().splitlines()[0]
    latex = (tmp_path / "report.tex").read_text()
    assert r"\pagestyle{simulated}" in latex and r"\title{SIMULATED DATA" in latex
    for path in (tmp_path / "figures").glob("*.svg"):
        assert "SIMULATED DATA" in path.read_text()


def test_empty_cells_and_missing_references_are_explained(hostile):
    _, folder = hostile
    markdown = (folder / "report.md").read_text()
    assert "An empty cell has no value" in markdown
    assert "No accepted references were loaded" in markdown


def test_one_attempt_and_one_order_are_told_in_the_singular():
    archive = {"archive": "a", "problems": 1, "competitions": 1, "smallest_bank": 1}
    archive |= {"largest_bank": 1, "eligible": 1, "attempts": 1}
    settings = {"primary_cap": "1", "caps": "1", "orders": "1", "replicates": "0"}
    settings["budgets"] = "2.0"
    words = content._load_sentences([archive], settings, UNITS["money"], is_answered=False)
    told = dict(words.compared)
    assert (
        render_line(words.holds, archive)
        == "1 problem in 1 competition, 1 attempt each; 1 of 1 attempts finished"
    )
    assert told["Orders"] == "1 random order per problem, alike for every rule"
    assert told["Attempts"] == "at most K = 1 per replay"
    assert write_key({"budget": 2.0, "selector": "first"}, "budget", "selector") == (
        "budget = 2, selector = first"
    )
    assert write_key({"budget": 0.00002}, "budget") == "budget = 0.00002"


def test_a_long_table_is_cut_with_a_hint(hostile, remembered, plain, monkeypatch, tmp_path):
    con, _ = hostile
    monkeypatch.setattr(build, "MOST_ROWS", 3)
    report(con, tmp_path, ("md",))
    text = (tmp_path / "report.md").read_text()
    total = engine.compute_table(con, "curves").num_rows
    assert f"The first 3 of {total} rows; budget-audit export curves --out DIR writes" in text


def test_provenance_names_sources_hashes_settings_and_versions(hostile):
    con, folder = hostile
    said = " ".join(Page((folder / "report.html").read_text()).text)
    ((file, digest, size),) = con.execute(
        "select distinct parse_filename(file), sha256, bytes from sources"
    ).fetchall()
    for text in (file, digest, f"{size:,}", "order_seed", "20260904", "bootstrap_seed", "20260905"):
        assert text in said, text


def test_columns_under_another_name_are_listed_and_others_are_not():
    mappings = ['{"seed": "sample", "archive": "archive"}', '{"archive": "archive"}', None]
    file = {"file": "logs/a.jsonl", "archive": "a", "format": "jsonl", "bytes": 1234, "rows": 5}
    file |= {"sha256": None, "simulated": False}
    sources = pa.Table.from_pylist([file | {"mapping": mapping} for mapping in mappings])
    with data.connect_tables({"sources": sources}) as con:
        rows = data.read(con, "report_sources").to_pylist()
    assert [row["mapping"] for row in rows] == ["seed: sample", "", ""]
    assert (rows[0]["file"], rows[0]["bytes"], rows[0]["sha256"]) == ("a.jsonl", "1,234", "")


def test_unknown_format_is_refused_with_the_list(hostile, tmp_path):
    con, _ = hostile
    with pytest.raises(AuditError, match="no format 'pdf'; there are html, md, tex, csv"):
        report(con, tmp_path, ("html", "pdf"))
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_the_page_works_and_figures_say_what_to_install(
    hostile, remembered, tmp_path, monkeypatch
):
    con, _ = hostile
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(AuditError, match=re.escape("[report]'")):
        figures.budget_curve(con)()
    written = report(con, tmp_path, build.FORMATS)
    assert {path.name for path in written} >= {"report.html", "report.md", "report.tex", "main.csv"}
    assert not (tmp_path / "figures").exists()
    assert "pip install" in (tmp_path / "report.md").read_text()


def test_a_database_without_replays_is_refused(tmp_path):
    con = database.connect(tmp_path / "empty.duckdb")
    with pytest.raises(AuditError, match="load"):
        report(con, tmp_path / "report", ("md",))
    con.close()


def test_the_page_names_the_command_that_makes_its_numbers_again(simulated):
    settings = dict(simulated.execute("select key, value from settings").fetchall())
    command, *_ = page._write_commands(settings | {"policies": "decided,none"})
    words = command.split()[4:]
    given = dict(zip(words[::2], words[1::2], strict=True))
    assert given["--unit"] == "completion" and given["--rules"] == "advisory,strict"
    assert given["--policies"] == "decided,none" and given["--orders"] == settings["orders"]
    # A rule of one's own is in the database; an option takes names of built-in ones only.
    assert "--rules" not in page._write_commands(settings | {"rules": "advisory,mine,strict"})[0]


def test_the_report_says_where_a_rule_or_selector_of_your_own_is_found():
    assert captions.selector_words("first") == "the earliest attempt that may be picked"
    assert captions.selector_words("exp_vote_my_prm").endswith("(score my_prm)")
    for words in (describe_rule("mine"), captions.selector_words("mine")):
        assert words.rpartition("see the relation ")[2] in engine.SETTING_RELATIONS
