"""The engine room: SQL files rendered, checked and built, stage by stage."""

from audit.engine.build import build, render
from audit.engine.lineage import relations_read
from audit.engine.plugins import Plugin, Plugins, plugins
from audit.engine.replay import drop_replays, replay
from audit.engine.sql_files import (
    exploratory_names,
    resource,
    stage_file,
    stage_names,
    table_names,
    table_purpose,
)
from audit.engine.stages import REPLAY_RELATIONS, SETTING_RELATIONS, STAGE_NAMES, STAGES
from audit.engine.tables import needs_texts, table, waiting_events

__all__ = [
    "REPLAY_RELATIONS",
    "SETTING_RELATIONS",
    "STAGES",
    "STAGE_NAMES",
    "Plugin",
    "Plugins",
    "build",
    "drop_replays",
    "exploratory_names",
    "needs_texts",
    "plugins",
    "relations_read",
    "render",
    "replay",
    "resource",
    "stage_file",
    "stage_names",
    "table",
    "table_names",
    "table_purpose",
    "waiting_events",
]
