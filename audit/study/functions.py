"""Archives from elsewhere as functions: simulated, fetched from the hub, or loaded from there."""

from pathlib import Path
from typing import Literal

import pyarrow as pa

from audit.options import Names, Sources, names, source_paths
from audit.output.result import Result
from audit.progress import Progress


def simulate(
    out: str | Path,
    *,
    problems: int = 30,
    attempts: int = 80,
    seed: int = 20260906,
    texts: Literal["final", "full"] = "final",
    progress: Progress | None = None,
) -> list[Path]:
    """Write a simulated archive in the study's shape, labelled as simulated; return its files.

    out: the folder for the Parquet files
    problems: problems per competition
    attempts: attempts per problem
    seed: the seed of all chance in it
    texts: only the last lines of each text (final), or all of it (full)
    progress: called with what is done, how much of it, and how much there is
    """
    from audit.study.simulate import simulate as write

    return write(
        Path(out),
        problems=problems,
        attempts=attempts,
        seed=seed,
        texts=texts,
        progress=progress,
    )


def local_files(sources: Sources) -> list[str]:
    """The sources as files; those at the hub's address are brought here first."""
    files = []
    for source in source_paths(sources):
        if source.startswith("hf://"):
            from audit.study.fetch import hub_files

            files += hub_files(source)
        else:
            files.append(source)
    return files


def fetch(
    out: str | Path,
    *,
    repo: str | None = None,
    revision: str | None = None,
    archives: Names = (),
    progress: Progress | None = None,
) -> Result:
    """Fetch the study's archive from the hub, resumed and checked: a row per file.

    out: the folder for the files
    repo: another dataset of the hub, owner/name
    revision: another commit, tag or branch than the study's
    archives: other archives than the study's two
    progress: called with what is done, how much of it, and how much there is
    """
    from audit.study import fetch as hub

    files = hub.fetch(
        Path(out),
        repo=repo or hub.REPO,
        revision=revision or hub.REVISION,
        archives=names(archives) or hub.ARCHIVES,
        progress=progress,
    )
    return Result(
        pa.table(
            {
                "file": pa.array([str(file.path) for file in files], pa.string()),
                "bytes": pa.array([file.bytes for file in files], pa.int64()),
                "is_new": pa.array([file.is_new for file in files], pa.bool_()),
            }
        )
    )
