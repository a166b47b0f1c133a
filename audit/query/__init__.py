"""Named queries and ad hoc SQL, read only."""
