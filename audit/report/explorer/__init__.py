"""The page that one explores: scripts, style, and the numbers that it computes with."""
