"""The budget card: rows of budget_card with what is behind them, by the schema that ships."""

import json

import pytest

import audit
from audit.errors import AuditError
from audit.output.card import SCHEMA_FILE
from tests.support.archives import attempt
from tests.support.checkpoints import loaded

CHECKPOINTS = [{"tokens": 3, "answer": "7", "cost": 1}]


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    rows = [
        attempt(seed, 8 + seed, "7", archive=name, question=q, correct=label)
        | {"checkpoints": CHECKPOINTS}
        for name, label in (("a", True), ("b/ü", False), ("plain", None))
        for seed in range(3)
        for q in range(2)
    ]
    db = loaded(tmp_path_factory.mktemp("card"), rows)
    settings = {"budgets": "9,20", "caps": "3", "primary_cap": 3, "orders": 2, "replicates": 20}
    audit.replay(db, **settings, terminals="all", policies="decided")
    return db


def test_the_card_fits_the_schema_that_ships_and_says_what_the_table_says(db, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    audit.card(db, tmp_path / "card.json")
    card = json.loads((tmp_path / "card.json").read_text())
    jsonschema.validate(card, json.loads(SCHEMA_FILE.read_text()))
    assert card["rows"] == audit.table(db, "budget_card").to_pylist()
    assert card["tool"] == {"name": "budget-audit", "version": audit.__version__}
    assert card["settings"]["orders"] == "2" and card["settings"]["policies"] == "decided,none"
    sources = {(row["archive"], len(row["sha256"])) for row in card["data"]}
    assert sources == {("a", 64), ("b/ü", 64), ("plain", 64)}
    del card["rows"][0]["cost"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(card, json.loads(SCHEMA_FILE.read_text()))


def test_a_row_for_every_rule_terminal_and_policy(db):
    rows = audit.table(db, "budget_card").to_pylist()
    found = {(r["rule"], r["terminal"], r["policy"]) for r in rows if r["archive"] == "a"}
    assert found == {
        *(("advisory", None, policy) for policy in ("none", "decided")),
        *(("strict", "none", policy) for policy in ("none", "decided")),
        *(("strict", name, "none") for name in ("forced", "forced_if_empty", "forced_after")),
    }
    for row in rows:
        is_labelled = row["archive"] != "plain"
        assert (row["accuracy"] is not None) == is_labelled == (row["coverage"] is not None)
        assert row["cost_p95"] >= 0 and row["attempts"] == 3.0 and row["problems"] == 2


def test_a_record_of_every_eval_ever_holds_one_archive(db, tmp_path):
    audit.card(db, tmp_path / "all", format="every_eval_ever")
    assert {path.name for path in (tmp_path / "all").iterdir()} == {
        "a.json",
        "b_ü.json",
        "plain.json",
    }
    record = json.loads((tmp_path / "all" / "a.json").read_text())
    assert record["schema_version"] == "0.3.0" and record["model_info"]["id"] == "a"
    rows = [row for row in audit.table(db, "budget_card").to_pylist() if row["archive"] == "a"]
    results = record["evaluation_results"]
    assert [r["score_details"]["score"] for r in results] == [row["accuracy"] for row in rows]
    parameters = results[0]["metric_config"]["metric_parameters"]
    assert parameters["budget"] == 9 and parameters["rule"] == "advisory"
    assert json.loads((tmp_path / "all" / "plain.json").read_text())["evaluation_results"] == []
    with pytest.raises(AuditError, match="a record holds one archive, and here are 3"):
        audit.card(db, tmp_path / "one.json", format="every_eval_ever")
    audit.card(db, tmp_path / "one.json", format="every_eval_ever", archive="a")
    assert (tmp_path / "one.json").is_file()
