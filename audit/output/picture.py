"""The path of a written picture, which a notebook shows as the picture itself."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Pictures that a notebook shows by their content; any other file is an HTML page.
MEDIA_TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".pdf": "application/pdf"}


class Picture(type(Path())):  # type: ignore[misc]
    """The path of a written figure, with the caption to paste below it, and notes."""

    caption: str = ""
    notes: Sequence[str] = ()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return the picture in the forms a notebook shows; only its path if the file is gone."""
        shown: dict[str, Any] = {"text/plain": str(self)}
        if not self.is_file():
            return shown
        content, kind = self.read_bytes(), MEDIA_TYPES.get(self.suffix.lower())
        if kind:
            return shown | {kind: content.decode() if "svg" in kind else content}
        page = html.escape(content.decode(), quote=True)
        return shown | {"text/html": f'<iframe srcdoc="{page}" width="100%" height="600"></iframe>'}
