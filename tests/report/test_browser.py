"""The page in a real browser, from file://, offline: quiet, exact, and usable without a mouse."""

import csv
import json
import random
import re
import time
from urllib.parse import quote

import pytest

from audit import database, engine
from audit.output.captions import steady_orders
from audit.output.display import round_half_up
from audit.report import figures, report
from audit.report.wording import amount
from audit.rules import RULES
from audit.units import UNITS
from tests.support.archives import random_archive
from tests.support.browser import ready
from tests.support.checkpoints import with_checkpoints
from tests.support.databases import (
    ledger_database,
    replayed,
    replayed_in_memory,
)
from tests.support.hostile import BRACES, IMAGE, MARKS, SCRIPT, hostile_rows
from tests.support.ledger import BUDGETS
from tests.support.slow import every_other
from tests.support.waiting import until


@pytest.fixture(scope="module")
def hostile(browser, tmp_path_factory):
    """A page on archives whose text tries to run, and one of its figures."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = hostile_rows()
    rows += [row | {"archive": MARKS} for row in rows if row["archive"] == SCRIPT]
    with replayed(folder, rows, budgets=(10, 20, 45)) as con:
        report(con, folder)
        figures.save_figure(figures.timeline(con), folder / "figure.html")
    return folder


@pytest.fixture(scope="module")
def tables(demo):
    """What `budget-audit table` prints of the demo's database, as rows."""
    names = ("main", "curves", "pools", "matched_cost", "at_k")
    with database.open_database(demo.parents[1] / "audit.duckdb") as con:
        return {name: engine.compute_table(con, name).to_pylist() for name in names}


def text(browser, selector):
    return browser.run(f"document.querySelector({selector!r}).textContent")


def shown(value, decimals=2):
    """A number as the page prints it."""
    digits = round_half_up(value, decimals)
    return (f"{int(digits):,}" if decimals == 0 else digits).replace("-", "−")


def number_rows(browser):
    """The panel of live numbers: the name of each row, and its two cells."""
    rows = browser.run(
        "[...document.querySelectorAll('#numbers tbody tr')].map(r => "
        "[...r.cells].map(c => c.textContent.trim()))"
    )
    return {row[0]: row[1:] for row in rows}


def set_budget(browser, budget):
    browser.run(
        f"(f => {{ f.value = '{budget}'; f.dispatchEvent(new Event('input')); }})"
        "(document.getElementById('budget'))"
    )


def settled(browser, selector):
    """Return the text of an element once it stays the same: intervals come a moment later."""
    seen = None
    for _ in range(20):
        time.sleep(1)
        if seen == (seen := text(browser, selector)):
            break
    return seen


def press(browser, key, code=None, modifiers=0):
    for kind in ("keyDown", "keyUp"):
        browser.call(
            "Input.dispatchKeyEvent",
            type=kind,
            key=key,
            code=code or key,
            windowsVirtualKeyCode={"Tab": 9, "Enter": 13, " ": 32}.get(key, 0),
            modifiers=modifiers,
            **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}),
        )


def focused(browser):
    return browser.run("document.activeElement.id || document.activeElement.textContent")


def test_the_watch_itself_sees_requests_errors_and_dialogs(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<img src='https://example.invalid/x.png'><script>console.error('ouch');nothing()</script>"
    )
    browser.open(page)
    assert browser.requests() == ["https://example.invalid/x.png"]
    assert any("ouch" in line for line in browser.complaints())
    assert any("Uncaught" in line for line in browser.complaints())


def test_the_demo_is_quiet_and_asks_the_network_for_nothing(browser, demo):
    browser.open(demo)
    ready(browser)
    assert browser.complaints() == []
    assert browser.requests() == []
    assert browser.run("performance.getEntriesByType('resource').length") == 0
    assert browser.run("document.getElementById('trouble').hidden") is True
    assert text(browser, "#why").startswith("Shown first: the smallest budget of the run at which")
    assert text(browser, "#limits").startswith(
        "Not shown: other problems than these 45 of one bench"
    )
    set_budget(browser, 5000)
    assert text(browser, "#why") == ""
    assert "strict at the same cost reaches" in text(browser, "#headline")


@pytest.mark.parametrize(("width", "height"), [(1300, 900), (420, 800)])
def test_the_first_screen_tells_the_story(browser, demo, width, height):
    browser.open(demo, width=width, height=height)
    ready(browser)
    for wanted in ("h1", ".scope", ".rules", "#headline", "#curve svg"):
        box = browser.run(
            f"(b => [b.top, b.bottom, b.left, b.right])"
            f"(document.querySelector({wanted!r}).getBoundingClientRect())"
        )
        assert box[0] >= 0 and box[1] <= height, (wanted, box)
        assert box[2] >= 0 and box[3] <= width, (wanted, box)
    assert "Replayed" in text(browser, ".scope")
    assert re.search(r"answers [\d.]+\s% when cut at the budget", text(browser, "#headline"))
    assert browser.run("document.documentElement.scrollWidth") <= width
    lines = browser.run("document.querySelectorAll('#curve path.line').length")
    assert lines == 2


@pytest.mark.parametrize("budget", [4000, 16000, 64000])
def test_live_numbers_equal_the_tables(browser, demo, tables, budget):
    archive = "gpt-5.1 high"
    browser.open(demo, fragment=f"#B={budget}&archive={archive.replace(' ', '+')}")
    ready(browser)
    (main,) = (r for r in tables["main"] if (r["archive"], r["budget"]) == (archive, budget))
    (pool,) = (r for r in tables["pools"] if (r["archive"], r["budget"]) == (archive, budget))
    found = number_rows(browser)
    rules = ("strict", "advisory")
    assert found["accuracy, %"] == [shown(main[f"{rule}_accuracy"]) for rule in rules]
    assert found["realized cost, tokens"] == [shown(main[f"{rule}_cost"], 0) for rule in rules]
    ratios = [shown(main[f"{rule}_cost_ratio"]) + " ×" for rule in rules]
    assert found["as a multiple of B"] == ratios
    assert found["coverage, %"] == [shown(main[f"{rule}_coverage"]) for rule in rules]
    assert found["abstains, %"] == [shown(pool[f"{rule}_abstention"]) for rule in rules]
    curves = {
        r["rule"]: r for r in tables["curves"] if (r["archive"], r["budget"]) == (archive, budget)
    }
    assert found["95 % interval"] == [
        f"[{shown(curves[rule]['accuracy_low'])}, {shown(curves[rule]['accuracy_high'])}]"
        for rule in rules
    ]
    delta = shown(main["delta"])
    assert text(browser, "#delta").removeprefix("+") == delta
    assert text(browser, "#delta-range") == (
        f"[{shown(main['delta_low'])}, {shown(main['delta_high'])}]"
    )
    rows = tables["matched_cost"]
    (same,) = (r for r in rows if (r["archive"], r["advisory_budget"]) == (archive, budget))
    assert text(browser, "#matched-budget") == f"{same['strict_budget']:,} tokens"
    assert text(browser, "#matched-accuracy") == shown(same["strict_accuracy"]) + " %"
    browser.wait("document.getElementById('matched-range').textContent !== ''")
    assert text(browser, "#matched-range").strip() == (
        f"[{shown(same['delta_low'])}, {shown(same['delta_high'])}]"
    )


def test_slider_field_and_picture_move_the_same_budget(browser, demo):
    browser.open(demo)
    ready(browser)
    before = text(browser, "#numbers")
    browser.run(
        "(s => { s.value = '1000'; s.dispatchEvent(new Event('input')); })"
        "(document.getElementById('slider'))"
    )
    budget = int(browser.run("document.getElementById('budget').value"))
    assert budget > 4000 and text(browser, "#numbers") != before
    set_budget(browser, 6001)
    assert "6,001" in text(browser, "#headline") and "6,001" in text(browser, "#curve")
    assert browser.run("document.getElementById('slider').getAttribute('aria-valuetext')") == (
        "6,001 tokens"
    )
    box = browser.run(
        "(b => [b.left + b.width * 0.7, b.top + b.height / 2])"
        "(document.querySelector('#curve svg').getBoundingClientRect())"
    )
    for kind in ("mousePressed", "mouseReleased"):
        browser.call(
            "Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1
        )
    budget = int(browser.run("document.getElementById('budget').value"))
    assert budget > 20000
    before = settled(browser, "#numbers")
    for wrong in ("", "-5", "0", "1.5"):
        set_budget(browser, wrong)
        assert text(browser, "#numbers") == before
    browser.run("document.getElementById('budget').dispatchEvent(new Event('change'))")
    assert int(browser.run("document.getElementById('budget').value")) > 20000


def test_pickers_change_what_is_shown(browser, demo):
    browser.open(demo)
    ready(browser)

    def pick(name, value):
        browser.run(
            f"(s => {{ s.value = '{value}'; s.dispatchEvent(new Event('change')); }})"
            f"(document.getElementById('{name}'))"
        )

    browser.run("document.querySelectorAll('.chip')[0].click()")
    assert browser.run("document.querySelectorAll('#curve path.line').length") == 4
    browser.run("document.getElementById('all-archives').click()")
    assert browser.run("document.querySelectorAll('#curve path.line').length") == 18
    browser.run("document.getElementById('reset').click()")
    assert browser.run("document.querySelectorAll('#curve path.line').length") == 2
    before = text(browser, "#numbers")
    set_budget(browser, 64000)
    whole = text(browser, "#numbers")
    pick("cap", 1)
    assert text(browser, "#numbers") not in (before, whole)
    assert number_rows(browser)["attempts returned"][1] == "1.00"
    pick("cap", 99)
    assert browser.run("document.getElementById('cap').value") == "8"
    browser.run("document.querySelector('input[value=cost]').click()")
    assert "realized cost" in text(browser, "#curve")
    assert browser.complaints() == []


def test_the_band_appears_and_says_what_it_is(browser, demo):
    browser.open(demo)
    ready(browser)
    browser.wait("document.querySelector('#curve .band').getAttribute('d').length > 100")
    assert text(browser, "#band-note") == (
        "Shaded: where the advisory curve may lie (95 %, all budgets together). "
        "Where the shade touches the blue line, the rules may be equal."
    )
    assert "95 % interval at B" in text(browser, "#legend")


def test_the_address_remembers_the_view(browser, demo):
    browser.open(demo)
    ready(browser)
    browser.run("document.querySelectorAll('.chip')[3].click()")
    set_budget(browser, 7777)
    browser.run("document.querySelector('input[value=cost]').click()")
    browser.wait("location.hash.includes('B=7777') && location.hash.includes('axis=cost')")
    fragment = browser.run("location.hash")
    numbers, headline = text(browser, "#numbers tbody"), text(browser, "#headline")
    browser.open(demo, fragment=fragment)
    ready(browser)
    assert text(browser, "#numbers tbody") == numbers and text(browser, "#headline") == headline
    assert browser.run("document.querySelector('input[value=cost]').checked")
    browser.open(demo, fragment="#B=nonsense&archive=nobody&cap=-1&problem=x")
    ready(browser)
    assert browser.complaints() == [] and "32k tokens" in text(browser, "#headline")


def test_every_control_is_reached_and_used_by_keyboard(browser, demo):
    browser.open(demo, fragment="#B=4000")
    ready(browser)
    seen = []
    for _ in range(60):
        press(browser, "Tab")
        seen.append(focused(browser))
        if seen[-1] == "slider":
            break
    for control in ("selector", "cap", "reset", "slider"):
        assert control in seen, seen
    # There is one competition, and nothing to choose.
    assert browser.run("document.getElementById('competition').parentElement.hidden") is True
    assert any("gpt-5.1" in name for name in seen)
    press(browser, "ArrowRight", modifiers=8)
    assert browser.run("document.getElementById('budget').value") == "4001"
    press(browser, "PageUp")
    assert browser.run("document.getElementById('budget').value") == "8000"
    press(browser, "ArrowLeft")
    assert browser.run("document.getElementById('budget').value") == "7920"
    press(browser, "PageDown")
    assert browser.run("document.getElementById('budget').value") == "4000"
    unnamed = browser.run(
        "[...document.querySelectorAll('input, select, button, [tabindex]')].filter(e => "
        "!(e.labels && e.labels.length) && !e.getAttribute('aria-label') && !e.textContent.trim())"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert unnamed == []
    # All that follows the budget is there before the address is.
    press(browser, "ArrowRight", modifiers=8)
    browser.wait("location.hash.includes('B=4001')")
    browser.run("document.querySelectorAll('#problems-table tbody tr')[4].focus()")
    press(browser, "Enter")
    name = browser.run(
        "document.querySelectorAll('#problems-table tbody tr')[4].cells[0].textContent"
    )
    assert name in text(browser, "#lane-bank")
    browser.wait("location.hash.includes('problem=')")


def test_the_timeline_shows_the_ledger_of_its_replay(browser, demo):
    fragment = "#B=8000&archive=gpt-5.2+medium&problem=OTIS+Mock+AIME+2024-2025%2F3&order=2"
    browser.open(demo, fragment=fragment)
    ready(browser)
    with database.open_database(demo.parents[1] / "audit.duckdb") as con:
        (competition,) = con.execute("select any_value(competition) from problems").fetchall()[0]
        assert competition == "OTIS Mock AIME 2024-2025"
        rules = con.execute(
            """
            select rule, launched, returned, cost, prefix_cost, answer, abstained
            from replays join selections using (
                archive, competition, question_id, repeat, cap, budget, rule
            )
            where archive = 'gpt-5.2 medium' and question_id = 3 and repeat = 2 and cap = 8
                and budget = 8000 and selector = 'majority'
            """
        ).fetchall()
    for rule, launched, returned, cost, cut, answer, abstained in rules:
        said = text(browser, f"#lane-{rule} p")
        assert f"returns {returned} of {launched} launched" in said
        assert f"pays {cost:,}" in said
        assert (f"{cut:,} bought nothing" in said) == (cut > 0)
        assert ("abstains" in said) if abstained else (f"answers {answer}" in said)
    before = text(browser, "#lane-bank")
    browser.run("document.getElementById('order-after').click()")
    assert text(browser, "#lane-bank") != before and "order 3" in text(browser, "#lane-bank")


def test_tables_fold_sort_filter_and_download(browser, demo, tables, tmp_path):
    browser.open(demo)
    ready(browser)
    listed = browser.run(
        "[...document.querySelectorAll('#table-list > details')].map(d => d.dataset.table)"
    )
    assert set(engine.list_tables()) <= set(listed)
    assert "(not on this page)" in text(browser, "#details-budget_curve summary")
    assert browser.run("document.getElementById('table-main')") is None
    browser.run("document.querySelector('#details-main > summary').click()")
    browser.wait("document.getElementById('table-main') !== null")
    assert browser.run("document.querySelectorAll('#table-main tbody tr').length") == 45

    def column(place):
        return browser.run(
            "[...document.querySelectorAll('#table-main tbody tr')]"
            f".map(r => r.cells[{place}].textContent)"
        )

    heads = browser.run("[...document.querySelectorAll('#table-main th button')].map(b => b.title)")
    place = heads.index("delta")
    browser.run(f"document.querySelectorAll('#table-main th button')[{place}].click()")
    values = [float(cell.split(" ")[0].replace("−", "-")) for cell in column(place)]
    assert values == sorted(values, reverse=True) and len(set(values)) > 5
    assert browser.run("document.querySelector('#table-main th[aria-sort]').ariaSort") == (
        "descending"
    )
    browser.run(
        "(f => { f.value = 'gpt-5.2 low'; f.dispatchEvent(new Event('input')); })"
        "(document.querySelector('#details-main input[type=search]'))"
    )
    assert set(column(0)) == {"gpt-5.2 low"}
    browser.call(
        "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path), session=False
    )
    browser.run(
        "[...document.querySelectorAll('#details-main button')]"
        ".find(b => b.textContent === 'download main.csv').click()"
    )
    until(lambda: (tmp_path / "main.csv").exists())
    with (tmp_path / "main.csv").open(newline="") as file:
        found = [
            {name: cell if name == "archive" else float(cell) for name, cell in row.items()}
            for row in csv.DictReader(file)
        ]
    assert found == tables["main"]
    browser.run("document.querySelector('#details-main > summary').click()")
    assert browser.run("document.getElementById('details-main').open") is False
    rows = browser.run("document.querySelectorAll('#findings-list tbody tr').length")
    assert rows > 20
    assert browser.run(
        "[...document.querySelectorAll('#findings-list details')].every(d => !d.open)"
    )
    browser.run("document.querySelectorAll('#findings-list summary')[1].click()")
    said = browser.run("document.querySelectorAll('#findings-list details')[1].innerText")
    assert "check: table transitions" in said


SUMMARY = "[...document.querySelectorAll('#archives-table tr')].map(r => r.innerText)"


@pytest.mark.slow
def test_many_archives_are_found_by_name_and_summed_up_in_slices(browser, demo, tmp_path):
    """The limits are set below the demo's nine archives, and a slice to one archive."""
    whole = demo.read_text()
    limits = "MANY_CHIPS = 12, MOST_CURVES = 100;"
    assert whole.count(limits) == 1 and whole.count("SLICE = 40;") == 1
    many = whole.replace(limits, "MANY_CHIPS = 8, MOST_CURVES = 8;")
    (tmp_path / "many.html").write_text(many.replace("SLICE = 40;", "SLICE = 0.001;"))
    found = []
    for path in (demo, tmp_path / "many.html"):
        browser.open(path)
        ready(browser)
        set_budget(browser, 5000)
        browser.wait("location.hash.includes('B=5000')")
        browser.wait("!document.querySelector('#summary-table[aria-busy]')")
        found.append(browser.run(SUMMARY))
        assert text(browser, "#summary .here") == "B = 5k"
    assert found[0] == found[1] and len(found[1]) == 10
    assert browser.run("document.getElementById('all-archives')") is None
    # What is picked stands first, after the field.
    left = browser.run(
        "[...document.querySelectorAll('.chip')].map(c => [c.getAttribute('aria-pressed'), "
        "c.getBoundingClientRect().top, c.getBoundingClientRect().left])"
    )
    assert min(left, key=lambda chip: chip[1:])[0] == "true"
    assert browser.complaints() == []


def test_without_scripts_the_page_shows_the_story_a_table_and_a_curve(browser, demo, tables):
    browser.open(demo, scripts=False)
    assert "has not started" not in browser.run("document.body.innerText")
    assert text(browser, "#still .headline").startswith("With 32k tokens a problem, gpt-5.1 low")
    rows = browser.run("[...document.querySelectorAll('#still-main tbody tr')].length")
    assert rows == len(tables["main"])
    for part in ("#still svg polyline", "#still svg circle", "#limits", ".rules"):
        box = browser.run(f"document.querySelector('{part}').getBoundingClientRect().width")
        assert box > 0, part
    browser.open(demo)
    ready(browser)
    assert browser.run("document.getElementById('still').hidden")


def test_reset_shows_the_page_as_it_was_opened(browser, demo):
    browser.open(demo)
    ready(browser)
    shown = "document.getElementById('explorer').innerText"
    browser.wait("document.querySelectorAll('#points circle').length === 18")
    opened = browser.run(shown)
    for control in ("unit][value=money", "axis][value=cost"):
        browser.run(f"document.querySelector('input[name={control}]').click()")
    browser.run("document.querySelectorAll('#points .pair')[0].dispatchEvent(new Event('click'))")
    set_budget(browser, 0.01)
    assert browser.run(shown) != opened
    browser.run("document.getElementById('reset').click()")
    browser.wait(f"{shown} === {json.dumps(opened)}")
    assert browser.complaints() == []


@pytest.mark.parametrize(
    "damage",
    every_other(
        [
            lambda page: re.sub(r'(id="walks">.{5000}).{400}', r"\1", page),
            lambda page: re.sub(r'(id="walks">).{20}', r"\1!!!!", page),
            lambda page: re.sub(r'(id="page-tables">.{200}).*?<', r"\1<", page),
            lambda page: page.replace("function unpack(", "function unpack((", 1),
        ]
    ),
    ids=["cut", "no base64", "short", "script"],
)
def test_a_damaged_page_shows_a_message(browser, demo, tmp_path, damage):
    page = demo.read_text()
    broken = damage(page)
    assert broken != page
    (tmp_path / "broken.html").write_text(broken)
    browser.open(tmp_path / "broken.html")
    browser.wait(
        "document.documentElement.dataset.state === 'broken' || typeof arithmetic === 'undefined'"
    )
    said = browser.run("document.querySelector('main').innerText")
    assert "budget-audit report" in said and "With 32k tokens" in said


def test_text_from_archives_is_shown_and_never_runs(browser, hostile):
    browser.open(hostile / "report.html")
    ready(browser)
    chips = browser.run("[...document.querySelectorAll('.chip')].map(c => c.title)")
    assert SCRIPT in chips and BRACES in chips
    assert any("\\u202e" in chip for chip in chips)
    browser.run(
        "document.querySelectorAll('#table-list > details').forEach(d => { d.open = true; })"
    )
    browser.run("document.querySelectorAll('.chip').forEach(c => c.click())")
    browser.run("document.querySelectorAll('#problems-table tbody tr').forEach(r => r.click())")
    browser.wait("document.getElementById('table-main') !== null")
    everything = browser.run("document.documentElement.innerText")
    assert SCRIPT in everything and IMAGE in everything and MARKS[0] not in everything
    assert browser.run("document.querySelectorAll('img, iframe, object').length") == 0
    assert browser.complaints() == []
    assert browser.requests() == []


def test_a_figure_saved_as_html_draws_itself_offline(browser, hostile):
    browser.open(hostile / "figure.html")
    browser.wait("document.querySelector('#figure svg.marks') !== null")
    assert browser.run("document.querySelectorAll('#figure .mark-rect path').length") > 3
    assert browser.complaints() == []
    assert browser.requests() == []


def forest(browser):
    """The rows of the forest: group, name, numbers."""
    browser.wait("document.querySelectorAll('#survive-rows tr').length > 0")
    return browser.run(
        "[...document.querySelectorAll('#survive-rows tr')].map(r => [r.cells[0].textContent, "
        "r.cells[1].textContent, r.cells[3].textContent])"
    )


def test_the_forest_sets_the_difference_beside_every_other_choice(browser, demo):
    browser.open(demo, fragment="#B=8000&archive=gpt-5.1+high")
    ready(browser)
    browser.wait("!document.getElementById('survive').hidden")
    rows = {name: numbers for _, name, numbers in forest(browser)}
    with database.open_database(demo.parents[1] / "audit.duckdb") as con:
        tables = {
            name: [
                row
                for row in engine.compute_table(con, name).to_pylist()
                if row["archive"] == "gpt-5.1 high" and row["budget"] == 8000
            ]
            for name in ("main", "selectors", "cap_sensitivity", "majority_rules")
        }

    def sign(value):
        return ("+" if value > 0 else "") + shown(value)

    (main,) = tables["main"]
    assert rows["as shown above"] == (
        f"{sign(main['delta'])} [{shown(main['delta_low'])}, {shown(main['delta_high'])}]"
    )
    others = [row for row in tables["selectors"] if row["selector"] != "majority"]
    assert others
    for row in others:
        assert rows[row["selector"]].startswith(sign(row["delta"]) + " [")
    for row in tables["cap_sensitivity"]:
        if row["cap"] == 8:
            ends = f"[{shown(row['order_min'])}, {shown(row['order_max'])}]"
            assert rows["each of 20 by itself"].strip() == ends
            assert rows["as recorded"] == sign(row["canonical_delta"])
        else:
            assert rows[f"at most {row['cap']}"].startswith(sign(row["delta"]) + " [")
    definitions = [row for row in tables["majority_rules"] if row["definition"] != "majority"]
    assert len(definitions) > 5
    for row in definitions:
        assert rows[row["definition"].replace("_", " ")] == sign(row["delta"])
    lead = text(browser, "#survive-lead")
    assert "other choices leave it above zero" in lead and "the difference at equal cost" in lead
    # Nine answers of ten are boxed: both votes find the same, and are one choice.
    idle = browser.run("document.querySelectorAll('#survive-rows .idle').length")
    (own,) = (row for row in tables["majority_rules"] if row["definition"] == "majority")
    rates = ("strict_accuracy", "advisory_accuracy")
    assert idle >= sum(all(row[rate] == own[rate] for rate in rates) for row in definitions) > 0
    assert f"{idle} choices change nothing" in lead
    # Every cell has a name that a reader of the screen can say.
    assert browser.run("document.querySelectorAll('td[scope], th[scope=row]:empty').length") == 0
    assert re.fullmatch(
        r"With 45 problems, a difference under \d+\.\d points would usually be missed \(80 % pow.*",
        text(browser, "#detectable"),
    )
    with database.open_database(demo.parents[1] / "audit.duckdb") as con:
        wanted = steady_orders(con)
    assert re.fullmatch(
        rf"20 orders: these means move by about ±\d\.\d; {wanted} orders would give ±\d\.\d "
        r"\(--orders auto\)\.",
        text(browser, "#order-note"),
    )


def test_a_row_of_the_forest_sets_the_controls(browser, demo):
    browser.open(demo, fragment="#B=8000&archive=gpt-5.1+high")
    ready(browser)
    names = [name for _, name, _ in forest(browser)]
    place = names.index("archive_majority")
    browser.run(f"document.querySelectorAll('#survive-rows button')[{place}].click()")
    picked = "document.getElementById('selector').selectedOptions[0].textContent"
    assert browser.run(picked) == "archive_majority"
    browser.wait("location.hash.includes('selector=archive_majority')")
    browser.wait(
        "[...document.querySelectorAll('#survive-rows button')]"
        ".some(b => b.textContent === 'majority')"
    )
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_what_matters_fits_on_a_narrow_screen(browser, demo, width):
    browser.open(demo, width=width, height=900)
    ready(browser)
    browser.wait("document.querySelectorAll('#archives-table tbody tr').length === 9")
    browser.wait("document.querySelectorAll('#survive-rows tr').length > 0")
    assert browser.run("document.documentElement.scrollWidth") <= width
    heads = browser.run(
        "[...document.querySelectorAll('#archives-table th')].map(h => h.textContent)"
    )
    assert heads[:4] == ["archive", "strict, %", "advisory, %", "difference, points"]
    edge = browser.run(
        "document.querySelector('#archives-table').closest('.scroll').getBoundingClientRect().right"
    )
    ends = browser.run(
        "[...document.querySelectorAll('#archives-table tbody tr')].map(r => "
        "Math.max(...[...r.cells[3].childNodes].map(n => { const k = document.createRange(); "
        "k.selectNodeContents(n); return k.getBoundingClientRect().right; })))"
    )
    assert max(ends) <= edge + 0.5
    browser.run(
        "document.querySelectorAll('#table-list > details').forEach(d => { d.open = true; })"
    )
    browser.wait("document.getElementById('table-main') !== null")
    assert browser.run("document.documentElement.scrollWidth") <= width
    # A name does not run into the bar beside it.
    names = browser.run(
        "[...document.querySelectorAll('#survive-rows .link')].map(link => "
        "link.getBoundingClientRect().right - link.closest('th').getBoundingClientRect().right)"
    )
    assert names and max(names) <= 0.5
    if width > 600:
        box, chips = browser.run(
            "[document.getElementById('archives').getBoundingClientRect().bottom, "
            "[...document.querySelectorAll('.chip')].map(c => c.getBoundingClientRect().bottom)]"
        )
        assert max(chips) <= box + 0.5
    assert browser.complaints() == []


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    """A page of attempts with steps, in money, under all five rules."""
    folder = tmp_path_factory.mktemp("agents")
    with ledger_database(folder, unit="money", budgets=BUDGETS["money"], orders=4) as con:
        report(con, folder)
        rows = engine.compute_table(con, "curves").to_pylist()
    return folder / "report.html", rows


@pytest.mark.slow
def test_every_rule_of_the_run_has_a_line_a_row_and_a_lane(browser, agents):
    page, rows = agents
    browser.open(page, fragment="#B=0.02")
    ready(browser)
    archive = browser.run("data.archives[state.focus]")
    found = {
        row["rule"]: row for row in rows if row["archive"] == archive and row["budget"] == 0.02
    }
    shown_rows = browser.run(
        "[...document.querySelectorAll('#numbers tbody tr')].map(r => "
        "[...r.cells].map(c => c.textContent))"
    )
    assert [row[0] for row in shown_rows] == list(RULES)
    for rule, accuracy, cost, ratio, _ in shown_rows:
        assert accuracy == shown(found[rule]["accuracy"])
        assert cost == amount(found[rule]["cost"], UNITS["money"])
        assert ratio == shown(found[rule]["cost_ratio"])
    # Over the budget rules with the same answers share a line, over cost each has its own.
    assert browser.run("document.querySelectorAll('#curve path.line').length") == 3
    browser.run("document.querySelector('input[value=cost]').click()")
    assert browser.run("document.querySelectorAll('#curve path.line').length") == 5
    ends = browser.run("[...document.querySelectorAll('#curve .end')].map(t => t.textContent)")
    assert sorted(ends) == sorted(RULES)
    lanes = browser.run("[...document.querySelectorAll('.lane[id]')].map(l => l.id)")
    assert lanes == ["lane-bank", *(f"lane-{rule}" for rule in RULES)]
    assert "Inspect token_limit" in text(browser, "#lane-step_lost")
    assert "told its budget may act otherwise" in text(browser, "#agent-note")
    # No policy was replayed: the section is about the frontier alone.
    assert text(browser, "#policies-title") == "What nothing cheaper beats: the frontier"
    browser.run("document.querySelector('#rules input[value=step]').click()")
    assert browser.run("document.querySelectorAll('#curve path.line').length") == 4
    browser.wait("location.hash.includes('rules=')")
    assert browser.complaints() == []


@pytest.mark.slow
def test_a_switch_shows_the_same_page_in_dollars(browser, tmp_path):
    settings = {"orders": 4, "replicates": 9, "caps": (2, 4, 9), "primary_cap": 4}
    with ledger_database(tmp_path, budgets=BUDGETS["completion"], **settings) as con:
        archives = [name for (name,) in con.sql("select archive from archives").fetchall()]
        prices = [(name, 2_500_000, 250_000, 10**7) for name in archives]
        priced = settings | {"rules": "all", "prices": prices}
        engine.replay(con, budgets=BUDGETS["completion"], **priced)
        report(con, tmp_path)
        engine.replay(con, unit="money", budgets=None, **priced)
        rows = engine.compute_table(con, "curves").to_pylist()
    archive, budget = archives[1], sorted({row["budget"] for row in rows})[1]
    curves = {r["rule"]: r for r in rows if (r["archive"], r["budget"]) == (archive, budget)}
    browser.open(tmp_path / "report.html", fragment=f"#B=20&archive={quote(archive)}")
    ready(browser)
    in_tokens = number_rows(browser)
    assert text(browser, "#tables .run-unit") == ""
    browser.run("document.querySelector('#units input[value=money]').click()")
    set_budget(browser, budget)
    found = number_rows(browser)
    for rule, row in curves.items():
        assert found[rule][0] == shown(row["accuracy"]), rule
        assert found[rule][1] == amount(row["cost"], UNITS["money"]), rule
    assert "$10 per million completion tokens" in text(browser, "#price-note")
    assert "budget B, $" in text(browser, "#curve")
    assert "token" not in text(browser, "#headline") + text(browser, "#keys")
    # What the tables of the run say stays in its unit, and the page says so.
    assert "completion tokens" in text(browser, "#tables .run-unit")
    browser.wait("location.hash.includes('unit=money')")
    address = browser.run("location.hash")
    browser.open(tmp_path / "report.html", fragment=address)
    ready(browser)
    assert number_rows(browser) == found
    browser.run("document.querySelector('#units input[value=completion]').click()")
    set_budget(browser, 20)
    assert number_rows(browser) == in_tokens
    assert browser.complaints() == []


def test_a_selector_that_can_pick_nothing_is_not_offered(browser, demo):
    browser.open(demo, fragment="#B=4000&selector=max_logprob")
    ready(browser)
    # The recorded attempts of the demonstration have no log-probabilities.
    disabled = "[...document.querySelectorAll('#selector option')].filter(o => o.disabled)"
    assert browser.run(f"{disabled}.map(o => o.textContent)") == ["max_logprob"]
    assert browser.run("data.selectors[state.selector].name") == "majority"
    browser.run(
        "state.selector = data.selectors.findIndex(s => s.name === 'max_logprob'); change()"
    )
    assert "max_logprob can pick no attempt of this archive" in text(browser, "#numbers")
    assert "answers" not in text(browser, "#headline")
    assert number_rows(browser)["accuracy, %"] == ["—", "—"]


@pytest.mark.slow
def test_policies_are_points_as_faint_as_they_are_rarely_on_the_frontier(browser, tmp_path):
    with replayed_in_memory(tmp_path, hostile_rows(), policies="all") as con:
        report(con, tmp_path)
        rows = engine.compute_table(con, "frontier").to_pylist()
    browser.open(tmp_path / "report.html", fragment=f"#archive={quote(SCRIPT)}")
    ready(browser)
    own = [row for row in rows if row["archive"] == SCRIPT]
    marks = browser.run(
        "[...document.querySelectorAll('#cloud path')].filter(p => p.querySelector('title'))"
        ".map(p => [Number(p.getAttribute('opacity')), p.style.fill === 'var(--paper)'])"
    )
    faint = [0.25 + 0.75 * row["frontier_share"] / 100 for row in own]
    assert sorted(opacity for opacity, _ in marks) == pytest.approx(sorted(faint))
    assert sum(hollow for _, hollow in marks) == sum(row["rule"] != "strict" for row in own)
    others = browser.run("document.querySelectorAll('#cloud circle.other').length")
    assert others == len(rows) - len(own)
    assert browser.run("document.querySelectorAll('#cloud path.same').length") == 1
    assert browser.run("document.querySelectorAll('#policies-here tbody tr').length") > 0
    assert browser.complaints() == []


def test_what_k_attempts_give_is_a_chart_over_k(browser, demo, tables):
    browser.open(demo, fragment="#archive=gpt-5.1+high")
    ready(browser)
    rows = [row for row in tables["at_k"] if row["archive"] == "gpt-5.1 high"]
    titles = browser.run(
        "[...document.querySelectorAll('#at-k-chart title')].map(t => t.textContent)"
    )
    assert {title.partition(" %")[0] for title in titles} == {
        f"{name}, k = {row['k']}: {shown(row[column])}"
        for row in rows
        for name, column in (
            ("pass@k", "pass_at_k"),
            ("pass^k", "pass_hat_k"),
            ("majority@k", "majority_at_k"),
        )
    }
    ticks = "[...document.querySelectorAll('#at-k-chart .tick text')].map(t => t.textContent)"
    assert browser.run(ticks)[-len(rows) :] == [str(row["k"]) for row in rows]
    ends = browser.run("[...document.querySelectorAll('#at-k-chart .end')].map(t => t.textContent)")
    assert sorted(ends) == ["majority@k", "pass@k", "pass^k"]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A page of attempts that were asked for their answers, and its table of terminals."""
    folder, rng = tmp_path_factory.mktemp("asked"), random.Random(5)
    rows = with_checkpoints(rng, random_archive(rng, costs=(4, 6, 7, 9, 14)))
    with replayed_in_memory(folder, rows, terminals=("all",)) as con:
        report(con, folder)
        terminals = engine.compute_table(con, "terminals").to_pylist()
    return folder / "report.html", [row for row in terminals if row["terminal"] == "forced"]


# A replay whose cut attempt was asked, shown by the page: what was taken from it.
ASKED = """
(() => {
  for (const budget of data.budgets) {
    const [first, last] = [0, 1].map((next) => data.archive_start[state.focus + next]);
    for (let bank = first; bank < last; bank++) {
      const found = A.replay(data, bank, 1, state.cap, state.selector, budget);
      const taken = A.takenAtCut(data, bank, found);
      if (taken && taken.answer !== null) {
        showReplay(state.focus, { budget, problem: data.bank_problem[bank], order: 1 });
        return [taken.tokens, taken.answer];
      }
    }
  }
})()
"""


def test_a_forced_answer_is_a_third_line_a_sentence_a_column_and_a_diamond(browser, asked):
    page, rows = asked
    (row,) = (r for r in rows if r["archive"] == rows[0]["archive"] and r["budget"] == 20)
    browser.open(page, scripts=False)
    assert browser.run("document.querySelectorAll('#still polyline.dotted').length") == 1
    browser.open(page, fragment=f"#B=20&archive={quote(row['archive'])}")
    ready(browser)
    lines = "[...document.querySelectorAll('#curve path.line')].map(p => p.dataset.rule)"
    assert browser.run(lines) == ["strict", "advisory", "forced"]
    reached = f"asked for its answer at the cut it reaches {shown(row['accuracy'], 1)}"
    assert reached in text(browser, "#headline")
    ends = f"[{shown(row['advisory_delta_low'])}, {shown(row['advisory_delta_high'])}]"
    assert f"{ends} against advisory" in text(browser, "#terminal")
    assert "generation limit" in text(browser, "#terminal")
    heads = "[...document.querySelectorAll('#archives-table th')].map(h => h.textContent)"
    browser.wait(f"{heads}.includes('forced answer, %')")
    assert "budget-card.json" in text(browser, "#card button")
    tokens, answer = browser.run(ASKED)
    said = text(browser, "#lane-strict .taken")
    assert f"asked for its answer after {tokens} token" in said and answer in said
    assert browser.run("document.querySelectorAll('#lane-strict .asked').length") == 1
    # At a budget of which the table says nothing, the page says nothing either.
    set_budget(browser, 21)
    assert "asked" not in text(browser, "#headline")
    assert browser.run("document.getElementById('terminal')") is None
    assert browser.complaints() == []


def test_simulated_data_are_marked_on_screen_and_on_every_printed_page(
    browser, simulated, tmp_path
):
    report(simulated, tmp_path)
    browser.open(tmp_path / "report.html")
    ready(browser)
    assert browser.run("document.title").startswith("SIMULATED DATA")
    assert "SIMULATED DATA" in text(browser, ".simulated")
    style = "getComputedStyle(document.querySelector('.watermark'))"
    assert browser.run(f"{style}.display") == "none"
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.run(f"[{style}.display, {style}.position]") == ["block", "fixed"]
    browser.call("Emulation.setEmulatedMedia", media="")
