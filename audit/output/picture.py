"""A picture that was written: its path, which a notebook shows as the picture itself."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Picture(type(Path())):  # type: ignore[misc]
    """The file of a figure, `caption`, the words to paste below it, and what to look at next."""

    caption: str = ""
    notes: Sequence[str] = ()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The picture as a notebook shows it; the path where the file is gone."""
        shown: dict[str, Any] = {"text/plain": str(self)}
        if not self.is_file():
            return shown
        content, suffix = self.read_bytes(), self.suffix.lower()
        if suffix == ".svg":
            shown["image/svg+xml"] = content.decode()
        elif suffix == ".png":
            shown["image/png"] = content
        elif suffix == ".pdf":
            shown["application/pdf"] = content
        else:
            page = html.escape(content.decode(), quote=True)
            shown["text/html"] = f'<iframe srcdoc="{page}" width="100%" height="600"></iframe>'
        return shown


def picture(path: Path, caption: str, notes: Sequence[str] = ()) -> Picture:
    """The written file with its caption."""
    written = Picture(path)
    written.caption, written.notes = caption, notes
    return written
