"""Where attempts come from: files of any container and format, read as canonical columns.

It knows no database: answers ← sources ← load.
"""

from audit.sources.containers import CONTAINERS
from audit.sources.files import Chunk, Source, SourceFile, Unreadable, excerpt, find_files

__all__ = [
    "CONTAINERS",
    "Chunk",
    "Source",
    "SourceFile",
    "Unreadable",
    "excerpt",
    "find_files",
]
