"""Tokenizers: count the tokens of a text, and return the text of its first n tokens."""

import base64
import functools
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from audit.errors import AuditError, first_line, install_hint

DEFAULT = "o200k_harmony"
# Both have the same ranks; they differ only in special tokens, which are not used here.
O200K = ("o200k_base", "o200k_harmony")
O200K_TOKENS = 199_998
O200K_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_LEADING = r"[^\r\n\p{L}\p{N}]?"
# Published as (?i:'s|'t|'re|'ve|'m|'ll|'d): there ſ matches s, which splintr does not support.
_CONTRACTION = r"(?:'[sSſ]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?"
O200K_PATTERN = "|".join(
    (
        f"{_LEADING}{_UPPER}*{_LOWER}+{_CONTRACTION}",
        f"{_LEADING}{_UPPER}+{_LOWER}*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)

Prefixes = Callable[[Sequence[int]], Iterator[str]]


@dataclass(frozen=True)
class Encoding:
    """A tokenizer: its name, and a function that counts a text's tokens and cuts prefixes."""

    name: str
    encode: Callable[[str], tuple[int, Prefixes]]


def is_file(tokenizer: str) -> bool:
    """Return whether the value of --tokenizer is a file (true) or the name of an encoding."""
    path = Path(tokenizer)
    return tokenizer.endswith(".json") or path.name != tokenizer or path.is_file()


def name_encoding(tokenizer: str) -> str:
    """Return the name stored with counts; for a tokenizer file it includes the file's hash."""
    if not is_file(tokenizer):
        return tokenizer
    path = Path(tokenizer)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise AuditError(
            f"--tokenizer {tokenizer}: cannot be read: {error.strerror}; give an encoding's name "
            "or a Hugging Face tokenizer.json"
        ) from None
    return f"{path.name} sha256:{hashlib.sha256(content).hexdigest()[:16]}"


def find_encoding(tokenizer: str | Encoding) -> Encoding:
    """Load the tokenizer that --tokenizer gives by name or as a tokenizer.json."""
    if isinstance(tokenizer, Encoding):
        return tokenizer
    if is_file(tokenizer):
        return load_hugging_face(tokenizer)
    return build_o200k(tokenizer) if tokenizer in O200K else load_tiktoken(tokenizer)


def _import_library(name: str) -> Any:
    """Import an optional library; name the command that installs it if it is missing."""
    try:
        return import_module(name)
    except ImportError:
        raise AuditError(
            f"counting tokens needs {name}, which is not installed; run: {install_hint('tokens')}"
        ) from None


def read_o200k_ranks() -> tuple[list[bytes], bytes]:
    """Read the o200k tokens from splintr; return them by rank and as a tiktoken file."""
    source = _import_library("splintr").Tokenizer.from_pretrained("o200k_base")
    tokens = [source.decode_token_bytes(rank) for rank in range(O200K_TOKENS)]
    file = b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))
    if hashlib.sha256(file).hexdigest() != O200K_SHA256:
        raise AuditError(
            "splintr-rs carries other o200k ranks than the published ones "
            f"(sha256 {O200K_SHA256[:16]}…); run: {install_hint('tokens')}"
        )
    return tokens, file


@functools.cache  # Building it takes a second.
def build_o200k(name: str) -> Encoding:
    """Build the o200k encoding; special tokens are encoded as ordinary text."""
    tokens, file = read_o200k_ranks()
    lengths = np.array([len(token) for token in tokens], dtype=np.int32)
    # splintr gives the same tokens as tiktoken and is several times as fast.
    fast = _import_library("splintr").Tokenizer.from_bytes(file, O200K_PATTERN)
    return _make_encoding(name, lambda text: np.frombuffer(fast.encode_flat(text), "<u4"), lengths)


@functools.cache
def load_tiktoken(name: str) -> Encoding:
    """Load an encoding of tiktoken, which downloads it if needed."""
    tiktoken = _import_library("tiktoken")
    if name not in (names := sorted({*tiktoken.list_encoding_names(), *O200K})):
        raise AuditError(
            f"--tokenizer {name}: no such encoding; there are {', '.join(names)}, "
            "or give the path of a Hugging Face tokenizer.json"
        )
    try:
        source = tiktoken.get_encoding(name)
    except Exception as error:
        # A failed download may raise any exception.
        raise AuditError(
            f"--tokenizer {name}: tiktoken could not download it ({type(error).__name__}); "
            f"{' and '.join(O200K)} need no download"
        ) from None
    lengths = np.zeros(source.n_vocab, dtype=np.int32)
    for token in source.token_byte_values():
        lengths[source.encode_single_token(token)] = len(token)
    return _make_encoding(name, lambda text: np.array(source.encode_ordinary(text), "u4"), lengths)


def load_hugging_face(path: str) -> Encoding:
    """Load a Hugging Face tokenizer.json; special tokens are encoded as ordinary text."""
    name = name_encoding(path)
    try:
        tokenizer = _import_library("tokenizers").Tokenizer.from_file(path)
    except AuditError:
        raise
    except Exception as error:
        raise AuditError(
            f"--tokenizer {path}: not a Hugging Face tokenizer.json: {first_line(error)}"
        ) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True

    def encode(text: str) -> tuple[int, Prefixes]:
        try:
            # Only the batch call lets other threads run.
            (encoded,) = tokenizer.encode_batch([text], add_special_tokens=False)
        except Exception as error:
            raise AuditError(f"--tokenizer {path}: {first_line(error)}") from None
        count = len(encoded)

        def prefix(n: int) -> str:
            if n == 0 or n >= count:
                return text if n else ""
            # If a character is split over two tokens, the prefix ends before it.
            (_, end), (start, _) = encoded.token_to_chars(n - 1), encoded.token_to_chars(n)
            return text[: min(end, start)]

        return count, functools.partial(map, prefix)

    return Encoding(name, encode)


def _make_encoding(name: str, ids_of: Callable[[str], np.ndarray], lengths: np.ndarray) -> Encoding:
    """Build an encoding that cuts prefixes by the byte lengths of its tokens."""

    def encode(text: str) -> tuple[int, Prefixes]:
        ids = ids_of(text)

        def prefixes(cuts: Sequence[int]) -> Iterator[str]:
            sizes = lengths.take(ids[: max(cuts, default=0)])
            ends = (int(sizes[:n].sum()) for n in cuts)
            if text.isascii():
                return (text[:end] for end in ends)
            data = text.encode()
            # Only the last character can be incomplete, so it alone is ignored.
            return (data[:end].decode(errors="ignore") for end in ends)

        return len(ids), prefixes

    return Encoding(name, encode)
