"""Replays on many processes or machines: each part of a run is replayed alone, then gathered."""
