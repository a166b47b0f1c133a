"""Controllers that enforce a cumulative budget while attempts are being made.

Nothing here is imported by the rest of the project, and importing this imports nothing of it.
"""

from audit.live.attempts import Attempt
from audit.live.controller import Controller

__all__ = ["Attempt", "Controller"]
