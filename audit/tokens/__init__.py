"""Token counts, and what the interrupted prefixes of boundary events already show."""

from audit.tokens.encodings import Encoding, find_encoding
from audit.tokens.run import tokenize, write_checkpoints

__all__ = ["Encoding", "find_encoding", "tokenize", "write_checkpoints"]
