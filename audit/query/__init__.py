"""The query room: named queries and ad hoc SQL, read only."""
