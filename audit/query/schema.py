"""List the relations of a database, or the columns of one, with their meanings."""

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
    """List all relations with kind and meaning, or the columns of the relation `name`."""
    stored = {relation: _find_kind(relation) for relation in relations(con)}
    tables = dict.fromkeys(engine.list_tables(), "table")
    # A published table is computed on demand; an internal relation may have the same name.
    kinds = {**stored, **{t: kind for t, kind in tables.items() if stored.get(t) != "yours"}}
    if name is not None:
        return _list_columns(con, name, kinds)
    listed = sorted(kinds, key=lambda relation: (RELATION_KINDS.index(kinds[relation]), relation))
    about = [engine.describe_relation(r) if kinds[r] != "yours" else "" for r in listed]
    rows = zip(listed, (kinds[relation] for relation in listed), about, strict=True)
    return text_table(("relation", "kind", "one row is"), rows)


def _find_kind(relation: str) -> str:
    """Return the kind of a stored relation: public, table, internal, or yours."""
    if relation in engine.PUBLIC_RELATIONS:
        return "public"
    if engine.is_table(relation):
        return "table"
    # Relations that the engine and load create for their own use.
    internal = {*engine.REPLAY_RELATIONS, *engine.list_files(), *SCHEMA, "replay_relations"}
    return "internal" if relation in internal else "yours"


def _list_columns(con: duckdb.DuckDBPyConnection, name: str, kinds: dict[str, str]) -> pa.Table:
    """List the columns of a relation with types and meanings; refuse an unknown name."""
    if name not in kinds:
        known = [relation for relation in kinds if kinds[relation] != "internal"]
        raise AuditError(not_there("relation or table", name, sorted(known)))
    if kinds[name] == "table":
        try:
            rows = con.execute(f"describe {engine.render(name)}").fetchall()
        except duckdb.Error:
            # The table needs replays, which are missing, or relations made only to compute it.
            rows = [
                (field.name, str(field.type)) for field in engine.compute_table(con, name).schema
            ]
    else:
        rows = con.execute(f"describe {quoted(name)}").fetchall()
    about = ((row[0], row[1].lower(), engine.describe_column(name, row[0])) for row in rows)
    return text_table(("column", "type", "meaning"), about)
