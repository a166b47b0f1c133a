"""The reports opened in a real browser, offline: drawn, quiet, and without a single request."""

import base64

import pytest

from audit import engine
from audit.report import figures, report, words
from tests.support.browser import drawn
from tests.support.databases import replayed
from tests.support.hostile import BRACES, IMAGE, SCRIPT, hostile_rows


@pytest.fixture(scope="module")
def hostile(browser, tmp_path_factory):
    """A report on archives whose text tries to run, and one of its figures."""
    folder = tmp_path_factory.mktemp("hostile")
    with replayed(folder, hostile_rows(), budgets=(10, 20, 45)) as con:
        report(con, folder)
        figures.save_figure(figures.timeline(con), folder / "figure.html")
    return folder


def test_the_watch_itself_sees_requests_errors_and_dialogs(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<img src='https://example.invalid/x.png'><script>console.error('ouch');nothing()</script>"
    )
    browser.open(page)
    assert browser.requests() == ["https://example.invalid/x.png"]
    assert any("ouch" in text for text in browser.complaints())
    assert any("Uncaught" in text for text in browser.complaints())


def test_demo_report_is_quiet_and_asks_the_network_for_nothing(browser, demo):
    browser.open(demo)
    drawn(browser)
    assert browser.complaints() == []
    assert browser.requests() == []
    assert browser.run("performance.getEntriesByType('resource').length") == 0


def test_demo_report_draws_every_figure_with_marks(browser, demo):
    browser.open(demo)
    drawn(browser)
    for name in words.FIGURES:
        inside = f"#figure-{name} .live svg.marks"
        assert browser.run(f"document.querySelectorAll('{inside}').length") == 1, name
        shapes = ".mark-symbol path, .mark-line path, .mark-rect path"
        marks = ", ".join(f"{inside} {shape.strip()}" for shape in shapes.split(","))
        assert browser.run(f"document.querySelectorAll('{marks}').length") > 5, name
        box = browser.run(
            "(b => [b.width, b.height])"
            f"(document.querySelector('{inside}').getBoundingClientRect())"
        )
        assert min(box) > 200, name
        assert "SIMULATED DATA" in browser.run(f"document.querySelector('{inside}').textContent")


def test_demo_report_holds_every_table_with_rows(browser, demo):
    browser.open(demo)
    rows = browser.run(
        "Object.fromEntries([...document.querySelectorAll('table')]"
        ".map(t => [t.id, t.tBodies[0].rows.length]))"
    )
    text = browser.run("document.body.innerText")
    assert rows["joint"] == 16 and rows["sources"] == 2
    for name in engine.table_names():
        assert browser.run(f"document.getElementById('table-{name}') !== null"), name
    assert rows["table-main"] == 8 and rows["table-curves"] == 16
    assert rows["table-selection_events"] == 200
    assert "The first 200 of" in text
    assert text.index("Findings") < text.index("What was compared") < text.index("Provenance")


def test_demo_report_marks_simulated_data_on_screen_and_on_every_printed_page(browser, demo):
    browser.open(demo)
    assert browser.run("document.title").startswith("SIMULATED DATA")
    assert browser.run("getComputedStyle(document.querySelector('.watermark')).display") == "none"
    browser.call("Emulation.setEmulatedMedia", media="print")
    style = "getComputedStyle(document.querySelector('.watermark'))"
    assert browser.run(f"[{style}.display, {style}.position]") == ["block", "fixed"]
    browser.call("Emulation.setEmulatedMedia", media="")


def test_print_uses_the_static_figures_and_cuts_no_table(browser, demo):
    browser.open(demo)
    drawn(browser)
    browser.call("Emulation.setEmulatedMedia", media="print")
    shown = "[...document.querySelectorAll('{}')].map(e => getComputedStyle(e).display)"
    assert set(browser.run(shown.format(".live"))) == {"none"}
    assert set(browser.run(shown.format(".narrow"))) == {"none"}
    assert set(browser.run(shown.format(".wide"))) == {"block"}
    height = "[...document.querySelectorAll('.scroll')].map(e => getComputedStyle(e).maxHeight)"
    assert set(browser.run(height)) == {"none"}
    browser.call("Emulation.setEmulatedMedia", media="")
    pdf = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert pdf.startswith(b"%PDF") and len(pdf) > 50_000


def test_a_phone_gets_its_own_figures_and_no_sideways_scrolling(browser, demo):
    browser.open(demo, width=390, height=844)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    shown = "[...document.querySelectorAll('{}')].map(e => getComputedStyle(e).display)"
    assert set(browser.run(shown.format(".narrow"))) == {"block"}
    assert set(browser.run(shown.format(".wide, .live"))) == {"none"}
    widths = browser.run(
        "[...document.querySelectorAll('.narrow svg')].map(e => e.getBoundingClientRect().width)"
    )
    assert len(widths) == len(words.FIGURES) and all(250 < width <= 390 for width in widths)
    # Shrinking would make labels unreadable: the picture is drawn for this width.
    scale = browser.run(
        "[...document.querySelectorAll('.narrow svg')]"
        ".map(e => e.getBoundingClientRect().width / e.viewBox.baseVal.width)"
    )
    assert min(scale) > 0.85
    assert browser.complaints() == []


def test_without_scripts_the_figures_are_still_there(browser, demo):
    browser.open(demo, scripts=False)
    shown = browser.run(
        "[...document.querySelectorAll('.wide svg')].map(e => e.getBoundingClientRect().width)"
    )
    assert len(shown) == len(words.FIGURES) and min(shown) > 400


def test_text_from_archives_is_shown_and_never_runs(browser, hostile):
    browser.open(hostile / "report.html")
    drawn(browser)
    text = browser.run("document.body.innerText")
    assert SCRIPT in text and BRACES in text and IMAGE in text
    assert browser.run("document.querySelectorAll('img, iframe, object').length") == 0
    assert browser.complaints() == []
    assert browser.requests() == []


def test_a_figure_saved_as_html_draws_itself_offline(browser, hostile):
    browser.open(hostile / "figure.html")
    browser.wait("document.querySelector('#figure svg.marks') !== null")
    assert browser.run("document.querySelectorAll('#figure .mark-rect path').length") > 3
    assert browser.complaints() == []
    assert browser.requests() == []
