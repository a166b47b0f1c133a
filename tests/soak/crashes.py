"""Commands killed at random moments: what they leave is old or new, never a mixture.

After each kill the database opens and holds its old or its new state and every output is whole;
after one to three the same command ends as if nothing had happened. Ctrl-C moreover leaves no
temporary file.
"""

import random
import re
import shutil
import signal
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from audit.study.simulate import simulate
from tests.soak._server import serving

REPLAY = ("replay", "--orders", "4", "--replicates", "200", "--caps", "4,8", "--primary-cap", "8")
REPLAY_AGAIN = ("replay", "--orders", "6", "--replicates", "300", "--caps", "8", "--budgets", "8k")
TOKENIZED = ("meta", "token_counts", "prefix_cuts")
# So that tokenize, too, is killed between two of its commits.
COMMIT_OFTEN = (("audit.tokens.run.COMMIT_EVERY", 10),)
# What a run may leave when it is killed: files under a temporary name, and DuckDB's own.
LEFTOVER = re.compile(r"\..+\.\d+\.part|audit\.duckdb\.wal|audit\.duckdb\.tmp")


@dataclass
class Case:
    """A command, the states of the folder before and after it, and how long it takes."""

    name: str
    arguments: tuple[str, ...]
    before: Path
    alter: tuple = ()
    after: Path = Path()
    old: dict = field(default_factory=dict)
    new: dict = field(default_factory=dict)
    old_files: dict = field(default_factory=dict)
    new_files: dict = field(default_factory=dict)
    seconds: float = 0.0


def state(db):
    """The content of a database by relation, whatever the order of its rows."""
    if not db.exists():
        return {}
    with duckdb.connect(str(db), read_only=True) as con:
        tables = con.execute("select table_name from duckdb_tables()").fetchall()
        found = {
            name: con.execute(
                f"select count(*), sum(hash(row)::hugeint) from {name} as row"
            ).fetchall()[0]
            for (name,) in tables
        }
        # A view that was read back forgets what is materialized, and lists what it leaves out anew.
        forgotten = "(NOT )?MATERIALIZED |EXCLUDE [(][^)]*[)]"
        views = con.execute(
            f"select view_name, regexp_replace(sql, '{forgotten}', '', 'g') "
            "from duckdb_views() where not internal"
        )
        return found | dict(views.fetchall())


def files(folder):
    """The outputs of a folder, hidden ones aside."""
    out = folder / "out"
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def leftovers(folder):
    """What is neither an output, the database nor a source."""
    found = [path for path in folder.rglob("*") if path.name.startswith(".")]
    return {path.name for path in [*found, *folder.glob("audit.duckdb.*")]}


def prepare(server, home):
    """Folders with a database in the state that each command is to meet."""
    for seed, name in ((1, "first"), (2, "second")):
        simulate(home / name, problems=1, attempts=8, seed=seed)
    folders = {name: home / name for name in ("new", "loaded", "replayed", "tokenized")}
    folders["new"].mkdir()
    steps = (("loaded", ("load", "../first")), ("replayed", REPLAY), ("tokenized", ("tokenize",)))
    previous = folders["new"]
    for name, arguments in steps:
        shutil.copytree(previous, folders[name])
        done, _, said = server.run(folders[name], arguments)
        assert done == 0, said
        previous = folders[name]
    return folders


def cases(server, folders, names):
    """The named commands, each with an undisturbed run of it."""
    relations = ("attempts", "texts", "replays", "selections", "token_counts")
    made = [
        Case("load", ("load", "../first"), folders["new"]),
        Case("load --replace", ("load", "../second", "--replace"), folders["tokenized"]),
        Case("replay", REPLAY, folders["loaded"]),
        Case("replay again", REPLAY_AGAIN, folders["tokenized"]),
        Case("tokenize", ("tokenize", "--all"), folders["replayed"], COMMIT_OFTEN),
        Case("export", ("export", "--out", "out"), folders["tokenized"]),
        Case(
            "export to parquet",
            ("export", *relations, "--format", "parquet", "--out", "out"),
            folders["tokenized"],
        ),
        Case("report", ("report", "--out", "out", "--format", "html,csv"), folders["tokenized"]),
    ]
    chosen = [case for case in made if case.name in names]
    for case in chosen:
        case.after = folder = case.before.with_name(f"after {case.name}")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(case.before, folder)
        status, case.seconds, said = server.run(folder, case.arguments, alter=case.alter)
        assert status == 0, said
        assert not leftovers(folder), leftovers(folder)
        case.old, case.new = state(case.before / "audit.duckdb"), state(folder / "audit.duckdb")
        case.new_files = files(folder)
        case.old_files = dict.fromkeys(case.new_files, b"old")
    return chosen


def begin(case, folder):
    """A folder as it is before the command, its outputs there from an earlier run."""
    shutil.copytree(case.before, folder)
    for name, content in case.old_files.items():
        (folder / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "out" / name).write_bytes(content)


def check_left(case, folder):
    """The state of the database: old or new, never a mixture; tokenize commits in between."""
    found = state(folder / "audit.duckdb")
    if case.name == "tokenize" and found not in (case.old, case.new):
        check_tokens(case, folder, found)
    else:
        assert found in (case.old, case.new), (case.name, differences(found, case.old, case.new))
    for name, content in files(folder).items():
        known = (case.old_files.get(name), case.new_files.get(name))
        assert content in known, f"{case.name}: {name} is neither the old nor the new file"
    return found


def differences(found, *states):
    """By state: the relations that differ from it."""
    return [{name for name in {*found, *one} if found.get(name) != one.get(name)} for one in states]


def check_tokens(case, folder, found):
    """What has been counted is whole: every cut of every attempt that has a count."""
    others = {name: content for name, content in found.items() if name not in TOKENIZED}
    assert others == {name: case.old[name] for name in others}
    with duckdb.connect(str(folder / "audit.duckdb"), read_only=True) as con:
        con.execute(f"attach '{case.after / 'audit.duckdb'}' as complete (read_only)")
        for name in ("token_counts", "prefix_cuts"):
            wrong = con.execute(
                f"""
                select count(*) from (
                    (from {name} except from complete.{name})
                    union all
                    (
                        from complete.{name}
                        semi join token_counts using (archive, competition, question_id, seed)
                        except from {name}
                    )
                )
                """
            ).fetchall()
            assert wrong == [(0,)], (name, wrong)


def disturb(server, case, folder, shares, number):
    """Send a signal to one run after the other and then let one end; how many met it running."""
    begin(case, folder)
    met = 0
    for share in shares:
        moment = share * case.seconds
        status, _, said = server.run(folder, case.arguments, moment, number, case.alter)
        is_met = status in (-number, 130)
        assert is_met or status == 0, (case.name, status, said)
        assert "Traceback" not in said, said
        left = leftovers(folder)
        is_allowed = number == signal.SIGKILL and is_met and all(map(LEFTOVER.fullmatch, left))
        assert is_allowed or not left, (case.name, status, left)
        found = check_left(case, folder)
        met += is_met
    # A load that was through is refused a second time.
    if case.name != "load" or found != case.new:
        # How long it takes depends on what else the machine does by now.
        status, case.seconds, said = server.run(folder, case.arguments, alter=case.alter)
        assert status == 0, (case.name, said)
        assert not leftovers(folder), (case.name, leftovers(folder))
        assert state(folder / "audit.duckdb") == case.new, case.name
        assert files(folder) == case.new_files, case.name
    shutil.rmtree(folder)
    return met


def disturb_often(server, folders, seed, times, number):
    """Send a signal so many times by command; how many met it running, and that in words."""
    rng = random.Random(seed)
    met: Counter[str] = Counter()
    for case in cases(server, folders, times):
        folder = case.before.with_name("disturbed")
        # The end is where files and commits are.
        shares = [
            rng.choice((rng.uniform(0, 1), rng.uniform(0.7, 1.05))) for _ in range(times[case.name])
        ]
        while shares:
            at_once = 1 if case.name == "load" else rng.randint(1, 3)
            met[case.name] += disturb(server, case, folder, shares[:at_once], number)
            del shares[:at_once]
    counts = ", ".join(f"{case} {met[case]} of {times[case]}" for case in times)
    return met.total(), f"{sum(times.values())}, {met.total()} before the end ({counts})"


KILLS = {
    "load": 30,
    "load --replace": 35,
    "replay": 25,
    "replay again": 30,
    "tokenize": 30,
    "export": 25,
    "export to parquet": 15,
    "report": 10,
}
INTERRUPTS = {name: count // 5 for name, count in KILLS.items()}


def soak(seed: int) -> str:
    """Kill 200 commands, and end a fifth as many with Ctrl-C."""
    with tempfile.TemporaryDirectory() as name, serving() as server:
        folders = prepare(server, Path(name))
        _, kills = disturb_often(server, folders, seed, KILLS, signal.SIGKILL)
        _, interrupts = disturb_often(server, folders, seed, INTERRUPTS, signal.SIGINT)
    return f"kills: {kills}; Ctrl-C: {interrupts}"
