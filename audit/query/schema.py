"""The relations of a database and what they and their columns mean."""

import duckdb
import pyarrow as pa

from audit import engine
from audit.database import relations
from audit.errors import AuditError
from audit.load.schema import SCHEMA
from audit.output.display import text_table
from audit.text import not_there, quoted

# The kinds of relations, in the order in which they are listed.
RELATION_KINDS = ("public", "table", "yours", "internal")


def schema(con: duckdb.DuckDBPyConnection, name: str | None = None) -> pa.Table:
    """Return every relation with its kind and meaning, or the columns of one."""
    stored = {relation: _kind(relation) for relation in relations(con)}
    tables = dict.fromkeys(engine.table_names(), "table")
    # A published table is computed when it is asked for; a relation inside may share its name.
    kinds = {**stored, **{t: kind for t, kind in tables.items() if stored.get(t) != "yours"}}
    if name is not None:
        return _columns(con, name, kinds)
    listed = sorted(kinds, key=lambda relation: (RELATION_KINDS.index(kinds[relation]), relation))
    about = [engine.relation_comment(r) if kinds[r] != "yours" else "" for r in listed]
    rows = zip(listed, (kinds[relation] for relation in listed), about, strict=True)
    return text_table(("relation", "kind", "one row is"), rows)


def _kind(relation: str) -> str:
    if relation in engine.PUBLIC_RELATIONS:
        return "public"
    if engine.is_table(relation):
        return "table"
    # Relations that the engine and load make for themselves.
    internal = {*engine.REPLAY_RELATIONS, *engine.stage_names(), *SCHEMA, "replay_relations"}
    return "internal" if relation in internal else "yours"


def _columns(con: duckdb.DuckDBPyConnection, name: str, kinds: dict[str, str]) -> pa.Table:
    if name not in kinds:
        shown = [relation for relation in kinds if kinds[relation] != "internal"]
        raise AuditError(not_there("relation or table", name, sorted(shown)))
    if kinds[name] == "table":
        try:
            rows = con.execute(f"describe {engine.render(name)}").fetchall()
        except duckdb.Error:
            # There are no replays yet, which it says, or it reads what is made for it alone.
            rows = [(field.name, str(field.type)) for field in engine.table(con, name).schema]
    else:
        rows = con.execute(f"describe {quoted(name)}").fetchall()
    about = ((row[0], row[1].lower(), engine.column_comment(name, row[0])) for row in rows)
    return text_table(("column", "type", "meaning"), about)
