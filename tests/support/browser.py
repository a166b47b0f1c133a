"""A headless browser spoken to through a pipe, and the fixture that opens one."""

import contextlib
import json
import os
import select
import shutil
import subprocess
import time

import pytest

from tests.support.missing import skip
from tests.support.waiting import until

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
        self.target = None

    def _message(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, end - time.monotonic()))
            chunk = os.read(self.answers, 1 << 20) if ready else b""
            assert chunk, "the browser does not answer"
            self.buffer += chunk
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, session=True, **params):
        """Send one command and return its result; events that come before it are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session and session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width=1300, height=900, scripts=True, fragment=""):
        """Open a file in a fresh page and wait until it is loaded."""
        self.session = None
        before, self.target = self.target, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        if before:
            # A page that nobody looks at would go on working.
            self.call("Target.closeTarget", targetId=before)
        self.target = target
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
        self.call("Page.navigate", url=path.as_uri() + fragment)
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
        until(lambda: self.run(condition), condition, PATIENCE)

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


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if BROWSER is None:
        skip("no chromium on PATH: apt-get install chromium", "BROWSER")
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def ready(browser):
    """Wait until the page has started, and all that it puts off is done."""
    browser.wait("document.documentElement.dataset.state === 'ready'")
    browser.wait("location.hash !== '' || document.getElementById('explorer').hidden")
