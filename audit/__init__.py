"""What did this token budget really buy? Replays of recorded attempts under a cumulative cap."""

__version__ = "0.1.0"
