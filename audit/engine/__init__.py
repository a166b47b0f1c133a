"""Render, check and build the SQL files of a replay, stage by stage."""

from audit.engine.build import build, render
from audit.engine.comments import (
    PUBLIC_RELATIONS,
    comment_relations,
    describe_column,
    describe_relation,
    find_column_meaning,
    is_table,
)
from audit.engine.enough import replay_enough
from audit.engine.intervals import list_intervals
from audit.engine.lazy import prepared
from audit.engine.lineage import parse_relations
from audit.engine.paired import paired_intervals
from audit.engine.plugins import Plugins, load_plugins
from audit.engine.replay import explain_other_replays, make_stale, refuse_other_replays, replay
from audit.engine.sql_files import (
    describe_table,
    find_file,
    find_folder,
    list_files,
    list_tables,
    read_header,
)
from audit.engine.stages import REPLAY_RELATIONS, SETTING_RELATIONS, STAGE_NAMES, STAGES
from audit.engine.tables import compute_table, count_waiting_events, find_relations_behind

__all__ = [
    "PUBLIC_RELATIONS",
    "REPLAY_RELATIONS",
    "SETTING_RELATIONS",
    "STAGES",
    "STAGE_NAMES",
    "Plugins",
    "build",
    "comment_relations",
    "compute_table",
    "count_waiting_events",
    "describe_column",
    "describe_relation",
    "describe_table",
    "explain_other_replays",
    "find_column_meaning",
    "find_file",
    "find_folder",
    "find_relations_behind",
    "is_table",
    "list_files",
    "list_intervals",
    "list_tables",
    "load_plugins",
    "make_stale",
    "paired_intervals",
    "parse_relations",
    "prepared",
    "read_header",
    "refuse_other_replays",
    "render",
    "replay",
    "replay_enough",
]
