"""Open databases, check their schema, and insert Arrow tables."""

from audit.database.arrow import insert
from audit.database.connection import (
    LOADED_ROW_GROUP,
    REPLAYED_ROW_GROUP,
    connect,
    connect_beside,
    cursor,
    open_database,
    transaction,
)
from audit.database.leftovers import atomic_file
from audit.database.schema import (
    SCHEMA_VERSION,
    check_schema,
    has_answers,
    lacks_texts,
    relations,
    require_attempts,
    require_replays,
)

__all__ = [
    "LOADED_ROW_GROUP",
    "REPLAYED_ROW_GROUP",
    "SCHEMA_VERSION",
    "atomic_file",
    "check_schema",
    "connect",
    "connect_beside",
    "cursor",
    "has_answers",
    "insert",
    "lacks_texts",
    "open_database",
    "relations",
    "require_attempts",
    "require_replays",
    "transaction",
]
