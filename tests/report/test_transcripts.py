"""Transcripts: texts beside the page, read by a click; the strict cut; nothing in them runs."""

import base64
import gzip
import json
import re

import pytest

from audit.report import report
from audit.report.explorer import texts
from tests.support.browser import ready
from tests.support.databases import TOY, replayed, three_bytes
from tests.support.hostile import hostile_rows

EVIL = (
    "</script><script>alert(1)</script>\r\n<img src=x onerror=alert(2)>\x1b[31mred\u202eback "
    "𝔸 first \\boxed{3}, then \\frac{1}{2} so \\boxed{\\frac{7}{1}} done"
)


def rows_with_texts(counted=True):
    """Rows whose first attempt of each problem wrote what a page must never obey."""
    rows = hostile_rows()
    for row in rows:
        row["archive"], row["competition"] = row["archive"][:9], "Cup"
        if row["seed"] < 4:
            row["text"] = EVIL * (row["seed"] + 1)
        if counted:
            row["completion_tokens"] = three_bytes(row["text"])[0]
    return rows


def scripts(folder):
    """The texts as the scripts hold them, by bank."""
    found = {}
    for path in sorted(folder.glob("*.js")):
        match = re.fullmatch(r'auditTexts\((\d+),"([A-Za-z0-9+/=]+)"\);\n', path.read_text())
        assert match and path.stem == match[1]
        found |= json.loads(gzip.decompress(base64.b64decode(match[2])))
    return found


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A page with texts, their cuts counted by the tokenizer that the database was counted with."""
    folder = tmp_path_factory.mktemp("texts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "_find_tokenizer", lambda con: TOY)
        patch.setattr(texts, "FILE_CHARACTERS", 2000)
        with replayed(folder, rows_with_texts(), budgets=(60, 100, 200)) as con:
            written = report(con, folder / "report", texts="some")
            events = con.sql(
                "select archive, question_id, seed, remaining from prefix_cuts order by all"
            ).fetchall()
    assert written == [folder / "report" / "report.html", folder / "report" / "texts"]
    return folder / "report", events


# A replay that strict cuts in one of the long texts, shown by the page: its budget, seed and start.
CUT_BY_STRICT = """
(() => {
  for (const budget of data.budgets) {
    for (let bank = data.archive_start[0]; bank < data.archive_start[1]; bank++) {
      for (let order = 1; order <= data.orders; order++) {
        const found = A.replay(data, bank, order, state.cap, state.selector, budget);
        const last = found.attempts[found.launched - 1];
        if (found.strict.cut > 0 && Number(last.seed) < 4 && found.launched > 1) {
          showReplay(0, { budget, problem: data.bank_problem[bank], order });
          return [budget, last.seed, last.start];
        }
      }
    }
  }
})()
"""


def open_attempt(browser, seed):
    browser.run(f"openAttempt('{seed}')")
    browser.wait("document.querySelector('#transcript .text') !== null")


def test_every_text_stands_in_a_script_as_data(told):
    folder, events = told
    found = scripts(folder / "texts")
    assert len(list((folder / "texts").glob("*.js"))) > 1 and len(found) == 4
    for bank in found.values():
        assert [entry["text"] for entry in bank[:4]] == [
            texts.escape_text(EVIL) * (seed + 1) for seed in range(4)
        ]
    assert "\\x1b" in texts.escape_text(EVIL) and "\u202e" not in texts.escape_text(EVIL)
    assert events and any("cuts" in entry for bank in found.values() for entry in bank)


def test_an_attempt_is_read_by_a_click_and_nothing_in_it_runs(browser, told):
    folder, _ = told
    browser.open(folder / "report.html", fragment="#B=100")
    ready(browser)
    piece = browser.run("document.querySelector('#lane-bank .piece').getAttribute('aria-label')")
    assert piece.startswith("read attempt 1")
    browser.run(
        "document.querySelector('#lane-bank .piece')"
        ".dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))"
    )
    browser.wait("document.querySelector('#transcript .text') !== null")
    seeds = browser.run("shownReplay.attempts.map(a => Number(a.seed)).filter(seed => seed < 4)")
    assert seeds
    for seed in seeds:
        open_attempt(browser, seed)
        said = browser.run(
            "[...document.querySelectorAll('#transcript .text > *:not(.cut-here)')]"
            ".map(e => e.textContent).join('')"
        )
        assert said == texts.escape_text(EVIL) * (seed + 1)
        assert browser.run("document.querySelector('#transcript mark').textContent") == (
            r"\boxed{\frac{7}{1}}"
        )
    assert (
        browser.run("document.querySelectorAll('#transcript img, #transcript script').length") == 0
    )
    assert browser.complaints() == []
    assert all(address.startswith("file:") for address in browser.requests())
    browser.run("document.querySelector('#transcript button').click()")
    assert browser.run("document.getElementById('transcript').hidden") is True


def test_the_strict_cut_stands_at_its_token(browser, told):
    """Where the tokenizer has counted a prefix the cut is exact; at another budget it is not."""
    folder, _ = told
    browser.open(folder / "report.html")
    ready(browser)
    budget, seed, start = browser.run(CUT_BY_STRICT)
    open_attempt(browser, seed)
    before = (
        "(t => { let s = ''; for (const e of t.children) { if (e.id === 'cut-here') return s; "
        "s += e.textContent; } })(document.querySelector('#transcript .text'))"
    )
    (prefix,) = three_bytes(EVIL * (int(seed) + 1))[1]([budget - start])
    assert browser.run(before) == texts.escape_text(prefix)
    assert "by the tokenizer" in browser.run("document.getElementById('transcript').innerText")
    browser.run(
        f"(f => {{ f.value = '{budget + 1}'; f.dispatchEvent(new Event('input')); }})"
        "(document.getElementById('budget'))"
    )
    browser.run("showTimeline()")
    open_attempt(browser, seed)
    assert "approximate" in browser.run("document.getElementById('transcript').innerText")


def test_a_row_of_selection_events_opens_its_replay(browser, told):
    folder, _ = told
    browser.open(folder / "report.html")
    ready(browser)
    browser.run("document.querySelector('#details-selection_events > summary').click()")
    browser.wait("document.getElementById('table-selection_events') !== null")
    row = "document.querySelector('#table-selection_events tbody tr')"
    cells = browser.run(f"[...{row}.cells].map(c => c.textContent)")
    browser.run(f"{row}.click()")
    browser.wait("!document.getElementById('transcript').hidden")
    assert browser.run("data.archives[state.focus]") == cells[0]
    assert browser.run("[data.selectors[state.selector].name, state.order]") == [
        cells[2],
        int(cells[5]),
    ]


def test_a_finding_leads_to_a_replay(browser, told):
    folder, _ = told
    browser.open(folder / "report.html")
    ready(browser)
    browser.run(
        "document.querySelectorAll('#findings-list details').forEach(d => { d.open = true; })"
    )
    assert browser.run("document.querySelectorAll('#findings-list .link').length") > 3
    browser.run("document.querySelector('#findings-list .link').click()")
    browser.wait("!document.getElementById('transcript').hidden")
    assert browser.run("state.budget") == 60
    assert browser.complaints() == []


def test_a_text_that_is_not_there_is_told(browser, told, tmp_path):
    folder, _ = told
    (tmp_path / "report.html").write_bytes((folder / "report.html").read_bytes())
    browser.open(tmp_path / "report.html")
    ready(browser)
    browser.run("openAttempt(shownReplay.attempts[0].seed)")
    browser.wait("document.getElementById('transcript').innerText.includes('cannot be shown')")
    assert ".js is not beside this page" in browser.run(
        "document.getElementById('transcript').innerText"
    )
