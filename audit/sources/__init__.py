"""Where attempts come from: files of any container and format, read as canonical columns.

It knows no database: answers ← sources ← load.
"""
