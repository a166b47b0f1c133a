"""The reports opened in a real browser, offline: drawn, quiet, and without a single request."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time

import pytest

from audit import engine
from audit.report import figures, report, words
from tests.databases import database
from tests.test_report import BRACES, IMAGE, SCRIPT, hostile_rows

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
PATIENCE = 60


class Browser:
    """A headless browser spoken to through a pipe, which notes all that its page does."""

    def __init__(self, profile):
        commands_read, self.commands = os.pipe()
        self.answers, answers_write = os.pipe()

        def connect():
            # The browser reads commands from descriptor 3 and writes answers to 4.
            held = os.dup(commands_read), os.dup(answers_write)
            os.dup2(held[0], 3)
            os.dup2(held[1], 4)

        self.process = subprocess.Popen(
            [BROWSER, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=connect,
        )
        os.close(commands_read)
        os.close(answers_write)
        self.buffer, self.events, self.number, self.session = b"", [], 0, None

    def _message(self):
        until = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, until - time.monotonic()))
            chunk = os.read(self.answers, 1 << 20) if ready else b""
            assert chunk, "the browser does not answer"
            self.buffer += chunk
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **params):
        """Send one command and return its result; events that come before it are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width=1300, height=900, scripts=True):
        """Open a file in a fresh page and wait until it is loaded."""
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        self.wait("document.readyState === 'complete'")

    def run(self, expression):
        """The value of an expression in the page."""
        result = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, condition):
        """Wait until a condition holds in the page."""
        until = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < until, f"never true: {condition}"
            time.sleep(0.05)

    def requests(self):
        """Every address that the page asked for, itself and what it carries aside."""
        asked = [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked[1:] if not url.startswith(("data:", "blob:"))]

    def complaints(self):
        """Errors and warnings of the page, its scripts and its content policy, and any dialog."""
        found = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"]["text"])
            if event["method"] == "Runtime.consoleAPICalled" and params["type"] in (
                "error",
                "warning",
                "assert",
            ):
                found.append(str(params["args"]))
            if event["method"] == "Log.entryAdded" and params["entry"]["level"] != "verbose":
                found.append(params["entry"]["text"])
            if event["method"] == "Page.javascriptDialogOpening":
                found.append(f"dialog: {params['message']}")
        return found

    def close(self):
        """End the browser."""
        self.session = None
        with contextlib.suppress(AssertionError, OSError):
            self.call("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if BROWSER is None:
        if os.environ.get("BUDGET_AUDIT_REQUIRE_BROWSER"):
            pytest.fail("no chromium on PATH, and BUDGET_AUDIT_REQUIRE_BROWSER asks for one")
        pytest.skip("no chromium on PATH: apt-get install chromium")
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def hostile(browser, tmp_path_factory):
    """A report on archives whose text tries to run, and one of its figures."""
    folder = tmp_path_factory.mktemp("hostile")
    with database(folder, hostile_rows(), budgets=(10, 20, 45)) as con:
        report(con, folder)
        figures.save_figure(figures.timeline(con), folder / "figure.html")
    return folder


def drawn(browser):
    browser.wait("[...document.querySelectorAll('.chart')].every(c => c.dataset.state === 'live')")


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
