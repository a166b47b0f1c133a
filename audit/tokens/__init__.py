"""Count tokens, and find the boxes in the prefixes of attempts that a budget interrupts."""

from audit.tokens.encodings import Encoding, find_encoding
from audit.tokens.run import tokenize, write_checkpoints

__all__ = ["Encoding", "find_encoding", "tokenize", "write_checkpoints"]
