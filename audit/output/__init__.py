"""Tables as text and as files."""
