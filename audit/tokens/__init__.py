"""Token counts, and what the interrupted prefixes of boundary events already show."""

from audit.tokens.counting import Look, boxes, last_complete_answer, look
from audit.tokens.encodings import (
    DEFAULT,
    O200K_PATTERN,
    O200K_TOKENS,
    Encoding,
    encoding_name,
    find_encoding,
    hugging_face_encoding,
    o200k_encoding,
    o200k_ranks,
    tiktoken_encoding,
)
from audit.tokens.run import TokenSummary, tokenize

__all__ = [
    "DEFAULT",
    "O200K_PATTERN",
    "O200K_TOKENS",
    "Encoding",
    "Look",
    "TokenSummary",
    "boxes",
    "encoding_name",
    "find_encoding",
    "hugging_face_encoding",
    "last_complete_answer",
    "look",
    "o200k_encoding",
    "o200k_ranks",
    "tiktoken_encoding",
    "tokenize",
]
