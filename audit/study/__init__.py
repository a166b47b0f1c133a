"""The study: its published values, its archive, and simulated ones of its shape."""
