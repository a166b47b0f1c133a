"""The engine: a visible pipeline of SQL files, rendered and run in one transaction."""

import contextlib
import functools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import jinja2
import pyarrow as pa

from audit.bootstrap import draw_weights
from audit.errors import AuditError
from audit.files import is_running, remove_leftovers, temporary
from audit.orders import draw_orders

# Every stage of a replay in the order in which it is built: a relation, and how it is kept.
# `order_slots` and `weights` are drawn in Python; all else is the SQL file of that name.
PIPELINE = (
    ("archives", "table"),
    ("problems", "table"),
    ("banks", "table"),
    ("candidates", "table"),
    ("walks", "table"),
    ("order_slots", "drawn"),
    ("paths", "view"),
    ("reach", "view"),
    ("steps", "table"),
    ("choices", "table"),
    ("pickable", "table"),
    ("eligible", "view"),
    ("selector_archives", "view"),
    ("states", "table"),
    ("budgeted_steps", "view"),
    ("crossings", "view"),
    ("stops", "table"),
    ("boundary_events", "view"),
    # Labels may be read from here on, never above.
    ("candidate_grades", "table"),
    ("coverage", "table"),
    ("ledger", "view"),
    ("picks", "view"),
    ("replay_scores", "table"),
    ("selection_scores", "table"),
    ("weights", "drawn"),
    ("archive_weights", "view"),
    ("replicate_costs", "view"),
    ("replicate_scores", "view"),
    ("paired_costs", "view"),
    ("paired_scores", "view"),
    ("paired_picks", "view"),
    ("paired_replays", "view"),
    ("segments", "view"),
    ("interpolations", "view"),
    ("halves", "view"),
    ("ballots", "view"),
    ("elections", "view"),
    ("control_steps", "view"),
    ("orders", "view"),
    ("prefixes", "view"),
    ("replays", "view"),
    ("selections", "view"),
    # Of generated fields and token counts alone; here because those need not be there.
    ("prefix_events", "view"),
    ("prefix_selections", "view"),
)
FIRST_LABELLED = "candidate_grades"
# What a walk's bank alone decides: with many orders, built some banks at a time.
PORTIONED = (
    "steps",
    "choices",
    "pickable",
    "states",
    "stops",
    "coverage",
    "replay_scores",
    "selection_scores",
)
# Prefixes or stops that are built at a time: enough to keep all cores busy, few enough for little
# memory.
PORTION_ROWS = 2_000_000
# Rows that are written together: of attempts with long texts, and of replays.
LOADED_ROW_GROUP = 2048
REPLAYED_ROW_GROUP = 16_384
SETTING_RELATIONS = ("settings", "budgets", "caps", "repeats", "rules", "selectors")
REPLAY_RELATIONS = (*SETTING_RELATIONS, *(name for name, _ in PIPELINE))
# What is complete only once the boundary attempts have been tokenized.
TOKEN_RELATIONS = {"prefix_events", "prefix_selections"}

# What a rule or a selector may read: generated fields, orders and settings, never a label.
RULE_MAY_READ = {"budgeted_steps", "crossings", "walks"}
SELECTOR_MAY_READ = {"steps", "candidates", "banks", "walks"}

# The engine is as it was installed: it fetches nothing and takes in nothing from elsewhere.
EXTENSION_SETTINGS = ("autoinstall_known_extensions", "autoload_known_extensions")

# Of the relations that load makes; a database of another one is refused wherever it is opened.
SCHEMA_VERSION = 2
NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]*")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Plugin:
    """A rule or a selector: the SQL file's stem, its text, and the field its answers come from."""

    name: str
    sql: str
    votes_on: str
    is_built_in: bool = True


def resource(folder: str) -> Path:
    """The folder `sql` or `queries`: inside the installed package, or beside it in a checkout."""
    here = Path(__file__).resolve().parent
    inside = here / folder
    return inside if inside.is_dir() else here.parent / folder


def connect(
    path: str | Path,
    *,
    read_only: bool = False,
    threads: int | None = None,
    memory: str | None = None,
    row_group: int | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a database of ours; a reader needs one that exists and cannot reach any other file.

    A `row_group` is how many rows DuckDB writes together, by itself 122,880: it keeps a group in
    memory until it is full, and gives each thread whole ones.
    """
    path = Path(path)
    config: dict[str, Any] = dict.fromkeys(EXTENSION_SETTINGS, False)
    if threads is not None:
        config["threads"] = threads
    if memory is not None:
        # Where rows are written in bulk, DuckDB takes half as much again as it counts.
        config["memory_limit"] = _two_thirds(memory) if row_group else memory
    if read_only:
        if not path.exists():
            raise AuditError(f"{path}: no such database; make it with 'budget-audit load'")
        config["enable_external_access"] = False
    else:
        # Users open the file with their own tools: DuckDB 1.4 and 1.5 cannot read 2.0's format.
        config["storage_compatibility_version"] = "v1.4.0"
    # DuckDB would take a CSV or Parquet file for a database and keep nothing.
    if path.is_file() and not _is_database(path):
        raise AuditError(f"{path}: cannot be opened: not a DuckDB database; choose another --db")
    try:
        if not path.exists() and str(path) != ":memory:":
            _create_file(path, config)
        if row_group:
            con = duckdb.connect(config=config | {"temp_directory": f"{path}.tmp"})
            _attach(con, path, f"row_group_size {row_group}")
        else:
            con = duckdb.connect(str(path), read_only=read_only, config=config)
    except duckdb.Error as error:
        raise AuditError(f"{path}: {_why_closed(error)}") from None
    if not read_only:
        _clear_killed(path)
    # In DuckDB 2.0 these fail now and then after small joins: "dict-surviving cache: global
    # dictionary column changed identity". Going without them costs no time that can be measured.
    with contextlib.suppress(duckdb.CatalogException):
        con.execute("set debug_enable_caching_operators = false")
    try:
        check_schema(con, str(path))
        if read_only and not relations(con):
            raise AuditError(f"{path}: holds no attempts; load some with 'budget-audit load'")
    except BaseException:
        con.close()
        raise
    return con


@contextmanager
def opened(
    path: str | Path, *, write: bool = False, **limits: Any
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for as long as it is needed; a new file left without content is removed."""
    is_new = not Path(path).exists()
    con = connect(path, read_only=not write, **limits)
    try:
        yield con
    except BaseException:
        # As long as it is locked: later the files could be another run's.
        if write:
            _discard(con, Path(path), is_new)
        con.close()
        raise
    con.close()


def _discard(con: duckdb.DuckDBPyConnection, path: Path, is_new: bool) -> None:
    """Remove what a failed run leaves for nothing: a new file without content, an empty log."""
    log = Path(f"{path}.wal")
    try:
        is_empty = not relations(con)
    except duckdb.Error:
        is_empty = True  # A connection that a full disk has broken says nothing any more.
    if is_new and is_empty:
        path.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
    elif log.exists() and not log.stat().st_size:
        log.unlink()


def _two_thirds(memory: str) -> str:
    """Two thirds of an amount such as 2GB."""
    number, unit = re.fullmatch(r"([\d.]+) ?(\w+)", memory).groups()  # type: ignore[union-attr]
    return f"{float(number) * 2 / 3:.3f}{unit}"


def _create_file(path: Path, config: dict[str, Any]) -> None:
    """Make an empty database; one that a kill leaves half made goes by another name."""
    if not path.parent.is_dir():
        raise AuditError(f"{path}: there is no folder {path.parent}; make it first")
    with temporary(path) as partial:
        duckdb.connect(str(partial), config=config).close()
        # Unlike a rename, this spares what another run has made since. Where the file system has
        # no links, DuckDB makes the file.
        with contextlib.suppress(OSError):
            os.link(partial, path)


def _clear_killed(path: Path) -> None:
    """Remove what killed runs have left; DuckDB clears what they spilled only when it spills."""
    folder = Path(f"{path}.tmp")
    with contextlib.suppress(OSError):
        remove_leftovers(path)
        for spilled in folder.glob("duckdb_temp_*_*"):
            if not is_running(spilled.name.split("_")[2]):
                spilled.unlink()
        folder.rmdir()


def _why_closed(error: duckdb.Error) -> str:
    """Why a database cannot be opened, and what to do."""
    if "Could not set lock" in str(error):
        held = re.search(r"held in (.+?) \(PID (\d+)\)", str(error))
        holder = f"process {held[2]} ({_program(held[2], held[1])})" if held else "another process"
        return f"in use by {holder}; try again when it has ended"
    if "newer version of DuckDB" in str(error):
        return (
            f"written by a newer DuckDB than this one ({duckdb.__version__}); "
            "run: pip install --upgrade duckdb"
        )
    return f"cannot be opened: {explained(error)}"


def _program(pid: str, executable: str) -> str:
    """What a process runs: a command of ours by name, anything else by its file."""
    words = ""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    ours = re.search(r"(?:/budget-audit|\0-m\0audit(?:\.cli)?)\0([a-z]+)", words)
    return f"budget-audit {ours[1]}" if ours else Path(executable).name


def check_schema(con: duckdb.DuckDBPyConnection, name: str = "the database") -> None:
    """Refuse a database that something else, or another version, has made."""
    present = con.execute(
        "select table_name from information_schema.tables "
        "where table_catalog = current_database() order by table_name"
    ).fetchall()
    if not present:
        return
    try:
        query = "select value from meta where key = 'schema_version'"
        ((version,),) = con.execute(query).fetchall()
        found = int(version)
    except (duckdb.CatalogException, duckdb.BinderException, TypeError, ValueError):
        some = ", ".join(table for (table,) in present[:5])
        raise AuditError(
            f"{name}: holds tables of another program ({some}); choose another --db"
        ) from None
    if found != SCHEMA_VERSION:
        age = "an older" if found < SCHEMA_VERSION else "a newer"
        what = "" if found < SCHEMA_VERSION else "use that one, or "
        raise AuditError(
            f"{name}: made by {age} budget-audit (schema version {found}, this one reads "
            f"{SCHEMA_VERSION}); {what}load the sources into a new --db"
        )


def _is_database(path: Path) -> bool:
    """Whether a file begins as DuckDB's do."""
    with open(path, "rb") as file:
        return file.read(12)[8:] == b"DUCK"


def connect_beside(path: str | Path, **limits: Any) -> duckdb.DuckDBPyConnection:
    """A database in memory with a file attached read only as `audited`, which is in use."""
    connect(path, read_only=True).close()
    con = connect(":memory:", **limits)
    _attach(con, path, "read_only")
    # The file may be anyone's: what it says must not reach another.
    con.execute("set enable_external_access = false")
    return con


def _attach(con: duckdb.DuckDBPyConnection, path: str | Path, options: str) -> None:
    """Attach a file as `audited` and use it."""
    literal = "'" + str(path).replace("'", "''") + "'"
    con.execute(f"attach {literal} as audited ({options})")
    con.execute("use audited")


def first_line(error: BaseException) -> str:
    """The first line of an error's message: the rest of DuckDB's is a picture of the query."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def explained(error: Exception) -> str:
    """An error of the engine in one line, with what to do where a user can do something."""
    if isinstance(error, duckdb.OutOfMemoryException):
        more = " or free some disk space" if "offload" in str(error) else ""
        return f"out of memory; raise --memory{more} ({first_line(error)})"
    if "No space left on device" in str(error):
        return f"the disk is full; free some space and run it again ({first_line(error)})"
    return first_line(error)


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All or nothing, whatever ends it."""
    con.execute("begin")
    try:
        yield
    except BaseException:
        # A connection that a full disk has broken cannot even do that, and needs not.
        with contextlib.suppress(duckdb.Error):
            con.execute("rollback")
        raise
    con.execute("commit")


@functools.cache
def _parser() -> duckdb.DuckDBPyConnection:
    """A database with nothing in it, to take statements apart."""
    return duckdb.connect()


@functools.cache
def relations_read(sql: str) -> frozenset[str]:
    """The relations a select reads, its own common table expressions aside.

    What is no relation but tells more than its arguments do goes by `name()`: table functions,
    chance, the clock, settings and plans.
    """
    ((text,),) = _parser().execute("select json_serialize_sql(?)", [sql]).fetchall()
    read: set[str] = set()

    def walk(node: Any, defined: frozenset[str]) -> None:
        """Collect what a part of the tree reads where these expressions are defined."""
        if isinstance(node, list):
            for child in node:
                walk(child, defined)
        if not isinstance(node, dict):
            return
        kind, name = node.get("type"), str(node.get("table_name", "")).lower()
        if kind == "BASE_TABLE" and (len(_path(node)) > 1 or name not in defined):
            # No expression is meant by main.steps, and one schema is all that a stage reads.
            read.update({name, ".".join(_path(node))})
        if kind == "SHOW_REF":
            read.add("show()")
        if str(kind).endswith("_QUERY_NODE"):
            raise AuditError("not one select statement: an expression in it writes")
        if kind == "TABLE_FUNCTION":
            read.add(f"{node['function']['function_name']}()".lower())
        if kind == "FUNCTION" and node["function_name"].lower() in _telling_functions():
            read.add(f"{node['function_name']}()".lower())
        for entry in (node.get("cte_map") or {}).get("map", []):
            # An expression sees those before it, and not itself: there its name is a relation's.
            walk(entry["value"], defined)
            defined |= {entry["key"].lower()}
        for key, child in node.items():
            if key != "cte_map":
                recurs = kind == "RECURSIVE_CTE_NODE" and key == "right"
                walk(child, defined | ({node["cte_name"].lower()} if recurs else set()))

    try:
        tree = json.loads(text)
        if tree["error"]:
            raise AuditError(f"not one select statement: {tree['error_message'].splitlines()[0]}")
        if len(tree["statements"]) != 1:
            raise AuditError(f"not one select statement: there are {len(tree['statements'])}")
        walk(tree, frozenset())
    except RecursionError:
        raise AuditError("not one select statement: nested too deep") from None
    return frozenset(read)


def _path(node: dict[str, Any]) -> list[str]:
    """The name of a table in a syntax tree, with the catalog and schema that it is given."""
    return [part.lower() for part in node["qualified_name"]["path"]]


@functools.cache
def _telling_functions() -> frozenset[str]:
    """Functions whose value depends on more than their arguments."""
    query = "select distinct function_name from duckdb_functions() where stability <> 'CONSISTENT'"
    found = _parser().execute(query).fetchall()
    # A plan tells what the statistics of any table say.
    return frozenset(name for (name,) in found) | {"json_serialize_plan"}


def plugins(kind: str, folder: str | Path | None = None) -> list[Plugin]:
    """The project's rules or selectors and those of a user's folder, by ascending name."""
    files = {path.stem: path for path in (resource("sql") / kind).glob("*.sql")}
    if folder is not None:
        own = sorted(Path(folder).glob("*.sql"))
        if not own:
            raise AuditError(f"{folder}: no .sql file here; --{kind} takes a folder of them")
        for path in own:
            if not NAME_PATTERN.fullmatch(path.stem):
                raise AuditError(
                    f"{path}: the file's name is the {kind[:-1]}'s: lower-case letters, digits, _"
                )
            if path.stem in files:
                raise AuditError(f"{path}: '{path.stem}' is built in; give the file another name")
            check_plugin(kind, _plugin(path), str(path))
            files[path.stem] = path
    return [_plugin(files[name]) for name in sorted(files)]


def _plugin(path: Path) -> Plugin:
    try:
        sql = path.read_text(encoding="utf-8").strip().rstrip(";")
    except UnicodeDecodeError as error:
        raise AuditError(f"{path}: not UTF-8 text: {first_line(error)}") from None
    votes_on = re.search(r"^-- votes on: *(\w+)", sql, re.MULTILINE)
    return Plugin(
        path.stem,
        sql,
        votes_on.group(1) if votes_on else "answer",
        path.is_relative_to(resource("sql")),
    )


def check_plugin(kind: str, plugin: Plugin, where: str) -> None:
    """What is not the project's own must be one select over relations that carry no label."""
    try:
        read = relations_read(plugin.sql)
    except AuditError as error:
        raise AuditError(f"{where}: {error}") from None
    allowed = RULE_MAY_READ if kind == "rules" else SELECTOR_MAY_READ
    if read - allowed:
        raise AuditError(
            f"{where}: reads {', '.join(sorted(read - allowed))}; "
            f"a {kind[:-1]} may read only {', '.join(sorted(allowed))}"
        )
    if plugin.votes_on not in ("answer", "archive_answer"):
        raise AuditError(f"{where}: '-- votes on:' names answer or archive_answer")


def render(
    name: str, rules: Sequence[Plugin] | None = None, selectors: Sequence[Plugin] | None = None
) -> str:
    """The SQL of a stage, rule, selector or table, its chosen files put in."""
    rules = plugins("rules") if rules is None else rules
    return (
        _templates()
        .get_template(stage_file(name))
        .render(
            rules=rules,
            selectors=plugins("selectors") if selectors is None else selectors,
            rule={rule.name: rule.sql for rule in rules},
        )
    )


@functools.cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource("sql")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@functools.cache
def _stage_files() -> dict[str, str]:
    """Every name that has SQL, and its file; the stem is the name."""
    root = resource("sql")
    return {path.stem: path.relative_to(root).as_posix() for path in sorted(root.rglob("*.sql"))}


def stage_file(name: str) -> str:
    """The file of a stage, rule, selector or table, below `sql`."""
    return _stage_files()[name]


def stage_names() -> list[str]:
    """The names `budget-audit sql` takes."""
    return sorted(_stage_files())


def table_names() -> list[str]:
    """The tables `budget-audit table` takes."""
    return sorted(path.stem for path in (resource("sql") / "tables").glob("*.sql"))


def exploratory_names() -> list[str]:
    """Tables beyond the study: made only when asked for by name."""
    return sorted(path.stem for path in (resource("sql") / "exploratory").glob("*.sql"))


def table_purpose(name: str) -> str:
    """What a row of a table means, from its file's first line."""
    first = (resource("sql") / "tables" / f"{name}.sql").read_text(encoding="utf-8").split("\n")[0]
    return first.removeprefix(f"-- {name}: ")


def replay(
    con: duckdb.DuckDBPyConnection,
    *,
    budgets: Sequence[int] = (4000, 8000, 16000, 32000),
    caps: Sequence[int] = (8, 16, 32),
    primary_cap: int = 16,
    orders: int = 20,
    order_seed: int = 20260904,
    primary_selector: str = "majority",
    replicates: int = 5000,
    bootstrap_seed: int = 20260905,
    rules: str | Path | None = None,
    selectors: str | Path | None = None,
    progress: Progress | None = None,
) -> None:
    """Replay every order of every bank under every cap, budget and rule, in one transaction."""
    if not budgets or min(budgets) < 1:
        raise AuditError("--budgets: at least one budget, each a whole number of tokens above 0")
    if max(budgets) > 10**15:
        raise AuditError("--budgets: a budget above 10^15 tokens cannot be summed exactly")
    if (caps and min(caps) < 1) or primary_cap < 1:
        raise AuditError("--caps: each cap is a whole number of attempts above 0")
    if max((*caps, primary_cap)) >= 2**31 or max(orders, replicates) > 10**6:
        raise AuditError("--caps below 2^31; --orders and --replicates up to a million")
    if orders < 0 or replicates < 0 or order_seed < 0 or bootstrap_seed < 0:
        raise AuditError("--orders, --replicates and the seeds are whole numbers from 0")
    rule_files, selector_files = plugins("rules", rules), plugins("selectors", selectors)
    if primary_selector not in [selector.name for selector in selector_files]:
        known = ", ".join(selector.name for selector in selector_files)
        raise AuditError(f"--primary-selector: no selector '{primary_selector}'; there are {known}")
    require_attempts(con)
    all_caps = sorted({*caps, primary_cap})
    settings = {
        "budgets": ",".join(str(budget) for budget in sorted(set(budgets))),
        "caps": ",".join(str(cap) for cap in all_caps),
        "primary_cap": primary_cap,
        "orders": orders,
        "order_seed": order_seed,
        "primary_selector": primary_selector,
        "replicates": replicates,
        "bootstrap_seed": bootstrap_seed,
        "rules": ",".join(rule.name for rule in rule_files),
        "selectors": ",".join(selector.name for selector in selector_files),
    }
    with transaction(con):
        drop_replays(con)
        values = [str(value) for value in settings.values()]
        _create(con, "settings", {"key": list(settings), "value": values})
        _create(con, "budgets", {"budget": pa.array(sorted(set(budgets)), pa.int64())})
        _create(
            con,
            "caps",
            {
                "cap": pa.array(all_caps, pa.int32()),
                "is_primary": [cap == primary_cap for cap in all_caps],
            },
        )
        _create(con, "repeats", {"repeat": pa.array(range(orders + 1), pa.int32())})
        _create(
            con,
            "rules",
            {
                "rule_id": pa.array(range(1, len(rule_files) + 1), pa.int8()),
                "rule": [rule.name for rule in rule_files],
                "is_built_in": [rule.is_built_in for rule in rule_files],
                "sql": [rule.sql for rule in rule_files],
            },
        )
        _create(
            con,
            "selectors",
            {
                "selector_id": pa.array(range(1, len(selector_files) + 1), pa.int8()),
                "selector": [selector.name for selector in selector_files],
                "is_primary": [selector.name == primary_selector for selector in selector_files],
                "votes_on": [selector.votes_on for selector in selector_files],
                "sql": [selector.sql for selector in selector_files],
            },
        )
        steps_done = 0

        def tell(name: str) -> None:
            nonlocal steps_done
            if progress:
                progress(name, steps_done, len(PIPELINE) + len(portions) * len(PORTIONED))
            steps_done += 1

        portions: list[tuple[int, int]] = []
        for name, kept_as in PIPELINE:
            tell(name)
            if name == "order_slots":
                portions = _portions(con)
                _insert_drawn(con, name, _draw_orders(con, orders, order_seed))
                if portions:
                    con.execute("create temp table walks as from walks limit 0")
            elif name == "weights":
                _insert_drawn(con, name, _draw_weights(con, replicates, bootstrap_seed))
            else:
                build(con, name, kept_as, rule_files, selector_files)
        for portion in portions:
            _build_portion(con, portion, rule_files, selector_files, tell)
        con.execute("drop table if exists temp.main.walks")
        if selectors is not None:
            _check_choices(con)
        if rules is not None:
            _check_stops(con)
        con.execute("update meta set value = 'fresh' where key = 'replays'")
    if progress:
        progress("done", steps_done, steps_done)


def _portions(con: duckdb.DuckDBPyConnection) -> list[tuple[int, int]]:
    """The first and last banks to walk at a time; none where all can be walked at once."""
    ((banks, prefixes, stops, orders),) = con.execute(
        """
        select
            (select max(bank_id) from banks),
            (select least(max(bank_size), (select max(cap) from caps)) + 1 from banks),
            (select count(*) from caps, budgets, rules),
            (select count(*) from repeats),
        """
    ).fetchall()
    size = max(1, PORTION_ROWS // (orders * max(prefixes, stops)))
    if size >= banks:
        return []
    return [(first, min(first + size - 1, banks)) for first in range(1, banks + 1, size)]


def _build_portion(
    con: duckdb.DuckDBPyConnection,
    portion: tuple[int, int],
    rules: Sequence[Plugin],
    selectors: Sequence[Plugin],
    tell: Callable[[str], None],
) -> None:
    """Walk some banks in temporary tables, which hide the kept ones, and add them to those."""
    home = con.execute("select current_database()").fetchall()[0][0].replace('"', '""')
    con.execute("drop table temp.main.walks")
    con.execute(
        "create temp table walks as from walks where bank_id between $1 and $2", list(portion)
    )
    for name in PORTIONED:
        tell(name)
        build(con, name, "temp table", rules, selectors)
    for name in PORTIONED:
        con.execute(f'insert into "{home}".{name} from temp.main.{name}')
        con.execute(f"drop table temp.main.{name}")


def build(
    con: duckdb.DuckDBPyConnection,
    name: str,
    kept_as: str,
    rules: Sequence[Plugin] | None = None,
    selectors: Sequence[Plugin] | None = None,
) -> None:
    """Create one relation of the pipeline from its SQL file."""
    sql = render(name, rules, selectors)
    try:
        con.execute(f"create {kept_as} {name} as {sql}")
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        raise AuditError(f"{name}: {explained(error)}") from None
    except duckdb.Error as error:
        raise AuditError(f"sql/{stage_file(name)}: {first_line(error)}") from error


def _create(con: duckdb.DuckDBPyConnection, name: str, columns: dict[str, Any]) -> None:
    """A table of run settings: visible and joinable."""
    con.register("incoming_rows", pa.table(columns))
    con.execute(f"create table {name} as select * from incoming_rows")
    con.unregister("incoming_rows")


def _insert_drawn(con: duckdb.DuckDBPyConnection, name: str, batches: Iterable[pa.Table]) -> None:
    """A table of random draws, filled batch by batch."""
    columns = {
        "order_slots": "problem_id integer, bank_size integer, repeat integer, slots integer[]",
        "weights": "replicate integer, counts double[]",
    }
    con.execute(f"create table {name} ({columns[name]})")
    for batch in batches:
        con.register("incoming_rows", batch)
        con.execute(f"insert into {name} select * from incoming_rows")
        con.unregister("incoming_rows")


def _draw_orders(
    con: duckdb.DuckDBPyConnection, orders: int, order_seed: int
) -> Iterable[pa.Table]:
    banks = con.execute(
        """
        select distinct problem_id, competition_index, question_id, bank_size
        from banks
        inner join problems using (problem_id)
        order by problem_id, bank_size
        """
    ).fetchall()
    return draw_orders(banks, orders, order_seed)


def _draw_weights(
    con: duckdb.DuckDBPyConnection, replicates: int, bootstrap_seed: int
) -> Iterable[pa.Table]:
    problems = con.execute(
        "select count(*) from problems group by competition_index order by competition_index"
    ).fetchall()
    return draw_weights([count for (count,) in problems], replicates, bootstrap_seed)


def _check_choices(con: duckdb.DuckDBPyConnection) -> None:
    """A selector gives one row per prefix and picks nothing beyond its end."""
    wrong = con.execute(
        """
        select selector,
            count(*) <> (select count(*) from steps) as incomplete,
            count(*) <> count(distinct walk_id + position) as doubled,
            count(*) filter (not selected_position between 1 and position) > 0 as beyond
        from selectors
        left join choices using (selector_id)
        group by selector
        having incomplete or doubled or beyond
        order by selector
        """
    ).fetchall()
    if wrong:
        raise AuditError(
            f"selector {wrong[0][0]}: needs exactly one row per walk_id and position of "
            "steps, and a selected_position that is null or between 1 and position"
        )
    wavering = con.execute(
        """
        select distinct selector
        from choices
        inner join steps on choices.walk_id + choices.position = steps.walk_id + steps.position
        inner join selectors using (selector_id)
        group by selector, steps.bank_id, steps.slot
        having count(distinct choices.is_eligible) > 1
        order by selector
        """
    ).fetchall()
    if wavering:
        raise AuditError(
            f"selector {wavering[0][0]}: is_eligible must be the same for an attempt wherever it "
            "stands in an order"
        )


def _check_stops(con: duckdb.DuckDBPyConnection) -> None:
    """A rule gives one row per order, cap and budget, and returns only what it launched."""
    wrong = con.execute(
        """
        select rule,
            count(*) <> (
                select count(*) from walks
            ) * (select count(*) from caps) * (select count(*) from budgets) as incomplete,
            count(*) <> count(distinct (walk_id, cap, budget)) as doubled,
            count(*) filter (
                not coalesce(returned between 0 and launched, false)
                or launched > cap
                or not coalesce(completion_cost >= 0, false)
            ) > 0 as impossible
        from rules
        left join stops using (rule_id)
        group by rule
        having incomplete or doubled or impossible
        order by rule
        """
    ).fetchall()
    if wrong:
        raise AuditError(
            f"rule {wrong[0][0]}: needs exactly one row per walk_id, cap and budget, with "
            "0 <= returned <= launched <= cap and a completion_cost of 0 or more"
        )


def drop_replays(con: duckdb.DuckDBPyConnection) -> None:
    """Remove every relation that a replay made."""
    kinds = relations(con)
    for name in reversed(REPLAY_RELATIONS):
        if name in kinds:
            con.execute(f"drop {kinds[name]} {name}")


def relations(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The tables and views of the database, with their kinds."""
    return dict(
        con.execute(
            """
            select table_name, if(table_type = 'VIEW', 'view', 'table')
            from information_schema.tables
            where table_catalog = current_database() and table_schema = 'main'
            """
        ).fetchall()
    )


def require_attempts(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse a database into which nothing was loaded."""
    names = {name for (name,) in con.execute("select table_name from duckdb_tables()").fetchall()}
    if "meta" not in names or not con.execute("select 1 from attempts limit 1").fetchall():
        raise AuditError("the database holds no attempts; load some with 'budget-audit load'")


def require_replays(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse where there are no replays, or where a load has made them stale."""
    require_attempts(con)
    states = con.execute("select value from meta where key = 'replays'").fetchall()
    if states == [("stale",)]:
        raise AuditError(
            "the replays are stale: archives were loaded since; run 'budget-audit replay' again"
        )
    if states != [("fresh",)]:
        raise AuditError("there are no replays yet; run 'budget-audit replay'")


def waiting_events(con: duckdb.DuckDBPyConnection, name: str) -> int:
    """How many boundary events have yet to be tokenized before a table is complete."""
    is_table = name in (*table_names(), *exploratory_names())
    if not is_table or not relations_read(render(name)) & TOKEN_RELATIONS:
        return 0
    require_replays(con)
    query = "select count(*) from prefix_events where examined is null"
    return con.execute(query).fetchall()[0][0]


def table(con: duckdb.DuckDBPyConnection, name: str) -> pa.Table:
    """One table of the study, at full precision and sorted by its keys."""
    if name not in (*table_names(), *exploratory_names()):
        raise AuditError(f"no table '{name}'; there are {', '.join(table_names())}")
    sql = render(name)
    if relations_read(sql) & set(REPLAY_RELATIONS):
        require_replays(con)
    else:
        require_attempts(con)
    if waiting := waiting_events(con, name):
        raise AuditError(
            f"{name}: {waiting:,} boundary events have not been tokenized; run 'budget-audit "
            "tokenize' (it needs: pip install 'budget-audit[tokens]')"
        )
    return con.sql(sql).to_arrow_table()
