"""Tables for papers: they fit their columns, and a real LaTeX sets them without a complaint."""

import math
import re
import statistics
import subprocess

import pyarrow as pa
import pytest

from audit import api, engine
from audit.errors import AuditError
from audit.output.captions import add_caption, caption, order_line
from audit.output.choose import choose
from audit.output.display import format_table
from audit.output.headings import set_width
from tests.support.databases import ledger_database, small_database, tables_of
from tests.support.ledger import BUDGETS
from tests.support.missing import require_latex

DOCUMENT = r"""\documentclass[10pt,twocolumn]{article}
\usepackage[margin=0.75in,columnsep=0.25in]{geometry}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    with small_database(tmp_path_factory.mktemp("tex")) as con:
        yield con


def main_rows(archives=("gpt-oss-20b_low", "gpt-oss-20b_high")):
    """Rows as wide as the study's: five digits of cost, intervals with signs."""
    columns = [
        "archive budget strict_accuracy advisory_accuracy delta delta_low delta_high",
        "strict_coverage advisory_coverage delta_coverage gap_change strict_cost advisory_cost",
        "strict_cost_ratio advisory_cost_ratio",
    ]
    names = " ".join(columns).split()
    values = [
        55.123,
        61.4,
        -6.25,
        -10.75,
        -11.5,
        60.1,
        70.2,
        10.1,
        -2.5,
        31826.0,
        38622.4,
        0.99,
        1.2,
    ]
    return pa.Table.from_pylist(
        [
            dict(zip(names, [archive, budget, *values], strict=True))
            for archive in archives
            for budget in (4000, 8000, 16000, 32000)
        ]
    )


def test_a_few_columns_fit_one_column():
    few = choose(main_rows(), ["archive", "budget", "strict_accuracy", "delta"])
    text = format_table(few, "tex", "main")
    assert "\n\\begin{table}[t]\n\\centering\n\\small\n" in text
    assert few.column_names[-2:] == ["delta_low", "delta_high"]


def test_what_fits_in_no_line_stands_in_parts_that_repeat_the_key(con):
    text = format_table(engine.compute_table(con, "cost_comparisons"), "tex", "cost_comparisons")
    parts = text.split(r"\begin{tabular}")[1:]
    assert len(parts) > 1
    assert all(r"\shortstack[r]{advisory\\budget}" in part for part in parts)


def test_a_caption_says_what_a_reader_of_the_paper_must_know(con):
    text = format_table(
        add_caption(con, "curves", engine.compute_table(con, "curves")), "tex", "curves"
    )
    assert text.startswith("% \\usepackage{booktabs}\n")
    caption = re.search(r"\\caption\{(.*)\}", text)[1]
    for words in (
        r"\d+ problems, \d+ recorded attempts of \d+ archives; at most 4 attempts a replay",
        "3 random orders a problem, selector majority",
        "B is the cumulative budget in completion tokens. Strict stops .* Advisory launches ",
        r"Intervals: 95 \\%, percentiles of 20 bootstrap replicates over problems",
        r"3 orders: these means move by about \$\\pm\$\d+\.\d",
        r"budget-audit \d+\.\d+",
    ):
        assert re.search(words, caption), words


def test_a_caption_of_some_archives_counts_only_those(con):
    errors = {}
    for archive, _, _, _, error, _ in con.execute(engine.render("order_errors")).fetchall():
        errors[archive] = max(error, errors.get(archive, 0))
    archive = min((name for name in errors if errors[name]), key=errors.get)
    ((problems, attempts),) = con.execute(
        "select count(distinct (competition, question_id)), count(*) from attempts "
        "where archive = ?",
        [archive],
    ).fetchall()
    told = f"{problems} problems, {attempts} recorded attempts of 1 archive;"
    noise = f"about $\\pm${1.96 * errors[archive]:.1f}"
    text, whole = (
        api.table(con, "main", archive=names).to_text("tex") for names in ([archive], None)
    )
    assert told in text and told not in whole
    assert noise in text and (noise in whole) == (errors[archive] == max(errors.values()))


def test_a_caption_says_what_every_rule_of_the_run_does(tmp_path):
    settings = {"unit": "money", "budgets": BUDGETS["money"], "orders": 1}
    with ledger_database(tmp_path, **settings) as con:
        engine.replay(con, rules="all", caps=(1,), primary_cap=1, **settings)
        words = caption(con, "what")
    assert "at most 1 attempt a replay, 1 random order a problem" in words
    assert "Step_lost lets the running step finish and throws it away" in words
    assert "token" not in words


def test_captions_of_simulated_data_say_so_and_name_no_option(con):
    con.begin()
    con.execute("update sources set simulated = true")
    for name in ("main", "source_audit"):
        table = add_caption(con, name, engine.compute_table(con, name))
        assert r"\caption{SIMULATED DATA. " in format_table(table, "tex", name)
    words = caption(con, "what")
    con.rollback()
    assert " simulated attempts of " in words and "--" not in words
    assert "SIMULATED" not in caption(con, "what")
    # Floats that go on say it too.
    many = main_rows([f"model-{number}" for number in range(20)])
    text = format_table(many.replace_schema_metadata({"caption": words}), "tex", "main")
    assert r"\caption{SIMULATED DATA. main, continued.}" in text


def test_the_order_error_is_that_of_a_slow_loop(con):
    (setting,) = con.execute("select value from settings where key = 'primary_selector'").fetchone()
    rows = con.execute(
        "select archive, budget, rule, competition, question_id, correct from results "
        "where selector = ?",
        [setting],
    ).fetchall()
    groups = {}
    for archive, budget, rule, competition, question, correct in rows:
        problems = groups.setdefault((archive, budget, rule), {})
        problems.setdefault((competition, question), []).append(correct)
    expected = {}
    for key, problems in groups.items():
        if None in [label for labels in problems.values() for label in labels]:
            continue
        variances = [statistics.variance(map(int, labels)) for labels in problems.values()]
        orders = len(next(iter(problems.values())))
        expected[key] = 100 * math.sqrt(sum(variances) / orders) / len(problems)
    found = con.execute(engine.render("order_errors")).fetchall()
    assert {tuple(row[:3]): row[4] for row in found} == pytest.approx(expected)
    largest = max(expected.values())
    assert f"move by about ±{1.96 * largest:.1f}" in order_line(con)


def test_a_query_without_a_name_stays_a_plain_tabular():
    assert format_table(pa.table({"x": [1]}), "tex").startswith(r"\begin{tabular}")


def every_table(con, width=None):
    """All tables of a database in TeX, as `table --format tex` prints them, with their captions."""
    names = [name for name in engine.list_tables() if not engine.count_waiting_events(con, name)]
    for name, table in tables_of(con, names).items():
        rows = add_caption(con, name, choose(table, limit=20))
        yield format_table(set_width(rows, width), "tex", name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["study", "5.5in", "ledger", "wide", "tall"])
def test_latex_sets_every_table_within_the_page(request, tmp_path, kind):
    require_latex()
    document = DOCUMENT
    if kind == "study":
        tables = list(every_table(request.getfixturevalue("con")))
    elif kind == "5.5in":
        document = DOCUMENT.replace(",twocolumn", "").replace(
            "margin=0.75in", "textwidth=5.5in,textheight=9in"
        )
        tables = list(every_table(request.getfixturevalue("con"), width=528))
        tables.append(format_table(set_width(main_rows(), 528), "tex", "main"))
    elif kind == "ledger":
        settings = {"unit": "money", "budgets": BUDGETS["money"], "orders": 2}
        with ledger_database(tmp_path, **settings) as con:
            tables = list(every_table(con))
    else:
        # Nine archives with a caption as long as a real one take more than a page.
        archives = [f"gpt-oss-{size}" for size in range(9)] if kind == "tall" else ("a", "b")
        rows = main_rows(archives).replace_schema_metadata({"caption": "Words. " * 130})
        tables = [format_table(rows, "tex", "main")]
        few = choose(rows, ["archive", "budget", "strict_accuracy", "delta"])
        tables.append(format_table(few, "tex", "main").replace("tab:main", "tab:few"))
        assert ("continued" in tables[1]) == (kind == "tall")
    text = "\n\\clearpage\n".join(tables)
    # Letters that pdflatex cannot set come from the test's own awkward names.
    (tmp_path / "paper.tex").write_text(document % re.sub(r"[^\x00-\x7f]", "x", text))
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    over = [float(found) for found in re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)]
    assert max(over, default=0) < 2, done.stdout[-3000:]
    assert "Float too large" not in done.stdout


def test_rows_are_sorted_limited_and_chosen_by_name():
    table = pa.table({"a": [1, 2, 2], "b": ["x", "y", "z"], "b_low": [0, 0, 0]})
    assert choose(table, sort=["-a"])["b"].to_pylist() == ["y", "z", "x"]
    assert choose(table, sort=["-a", "-b"], limit=1)["b"].to_pylist() == ["z"]
    assert choose(table, ["b"]).column_names == ["b", "b_low"]
    assert choose(table, where="a > 1 and b <> 'y'")["b"].to_pylist() == ["z"]
    paid = pa.table({"cost": [0.1, 0.7]}).replace_schema_metadata({"unit": "money"})
    assert choose(paid, where="cost > $0.50 and cost > 1e-3")["cost"].to_pylist() == [0.7]
    named = table.append_column("archive", [["x", "y", "z"]])
    assert choose(named, order=["z", "y"])["archive"].to_pylist() == ["z", "y", "x"]
    for wrong in ({"where": "c > 1"}, {"where": "exists (from glob('/*'))"}, {"order": ["w"]}):
        with pytest.raises(AuditError, match=f"--{next(iter(wrong))}"):
            choose(named, **wrong)
    with pytest.raises(AuditError, match="no column 'c'; there are a, b, b_low"):
        choose(table, ["c"])
    for wrong in ({"sort": ["-c"]}, {"where": "c > 1"}):
        with pytest.raises(AuditError, match="no column 'c'; there are a, b"):
            choose(table, **wrong)
