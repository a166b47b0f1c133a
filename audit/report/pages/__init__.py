"""The report as pages: HTML, Markdown, LaTeX."""
