"""Render, check and build the SQL files of a replay, stage by stage."""

from audit.engine.build import build, render
from audit.engine.comments import (
    PUBLIC_RELATIONS,
    column,
    column_comment,
    comment_relations,
    is_table,
    relation_comment,
)
from audit.engine.enough import replay_enough
from audit.engine.intervals import list_intervals
from audit.engine.lazy import prepared
from audit.engine.lineage import relations_read
from audit.engine.paired import paired_intervals
from audit.engine.plugins import Plugins, plugins
from audit.engine.replay import explaining_other_replays, make_stale, refuse_other_replays, replay
from audit.engine.sql_files import (
    header,
    resource,
    stage_file,
    stage_names,
    table_names,
    table_purpose,
)
from audit.engine.stages import REPLAY_RELATIONS, SETTING_RELATIONS, STAGE_NAMES, STAGES
from audit.engine.tables import relations_behind, table, waiting_events

__all__ = [
    "PUBLIC_RELATIONS",
    "REPLAY_RELATIONS",
    "SETTING_RELATIONS",
    "STAGES",
    "STAGE_NAMES",
    "Plugins",
    "build",
    "column",
    "column_comment",
    "comment_relations",
    "explaining_other_replays",
    "header",
    "is_table",
    "list_intervals",
    "make_stale",
    "paired_intervals",
    "plugins",
    "prepared",
    "refuse_other_replays",
    "relation_comment",
    "relations_behind",
    "relations_read",
    "render",
    "replay",
    "replay_enough",
    "resource",
    "stage_file",
    "stage_names",
    "table",
    "table_names",
    "table_purpose",
    "waiting_events",
]
