"""Download files from the Hugging Face hub: resume partial ones and check their hashes."""

import fnmatch
import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import pyarrow as pa

from audit.errors import AuditError, first_line, install_hint
from audit.options import Names, Sources, source_paths, split_names
from audit.output.result import Result
from audit.progress import Progress
from audit.text import not_there

# Scorio Trace, as its authors publish it, at the revision that the study pins.
REPO = "harimo/scorio-trace"
REVISION = "176c59089b2367d569e1062ffe94a890bf3cbd17"
ARCHIVES = ("gpt-oss-20b_low", "gpt-oss-20b_high")
SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz")
# A storage bucket of the hub, and a dataset's files, as addresses.
BUCKET, DATASET = "hf://buckets/", "hf://datasets/"
LAYOUTS = f"owner/name, {DATASET}owner/name/PATTERN or {BUCKET}owner/name/FOLDER"
# Exceptions of these packages are failures of the network or the hub.
NETWORK = ("httpx", "httpx2", "requests", "urllib3", "huggingface_hub", "hf_xet")
# Advice for exceptions of the hub's library; the first match counts.
ADVICE = {
    "HFValidationError": "not the name of a dataset, which is owner/name",
    "GatedRepoError": "asks for consent; give it there, then set HF_TOKEN",
    "RepositoryNotFoundError": "not there, or not open to you; check --repo, or set HF_TOKEN",
    "RevisionNotFoundError": "there is no such revision; check --revision",
    "OfflineModeIsEnabled": "HF_HUB_OFFLINE is set; unset it to fetch",
}


class Place(NamedTuple):
    """A dataset at a revision, or a bucket (no revision), with the client of the hub."""

    hub: Any
    api: Any
    name: str
    revision: str | None

    def __str__(self) -> str:
        """Return the address of the dataset or bucket for messages."""
        if self.revision is None:
            return BUCKET + self.name
        return f"{self.api.endpoint}/datasets/{self.name}@{self.revision}"


class Remote(NamedTuple):
    """A file as the hub lists it, with a SHA-256 (large files) or git's hash (small files).

    A file of a bucket has no hash, only a `version` that changes with its content.
    """

    path: str
    bytes: int
    version: str
    hash: str | None = None


FETCHED = pa.schema([("file", pa.string()), ("bytes", pa.int64()), ("is_new", pa.bool_())])


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
    repo: another dataset of the hub, owner/name, or a bucket, hf://buckets/owner/name
    revision: another commit, tag or branch than the study's
    archives: other archives than the study's two
    progress: called with what is done, how much of it, and how much there is
    """
    place, folder = _read_address(repo or REPO, revision or REVISION)
    if folder and place.revision is not None:
        raise AuditError(f"--repo {repo}: not the name of a dataset, which is owner/name")
    place, files = _list_files(place, folder)
    remotes = {
        remote
        for archive in split_names(archives) or ARCHIVES
        for remote in select_files(archive, files, str(place))
    }
    total, done = sum(remote.bytes for remote in remotes), 0
    rows = []
    for remote in sorted(remotes):
        if progress:
            progress(remote.path, done, total)
        path = Path(out) / remote.path
        is_new = _fetch_file(place, path, remote)
        rows.append({"file": str(path), "bytes": remote.bytes, "is_new": is_new})
        done += remote.bytes
    if progress:
        progress("done", total, total)
    return Result(pa.Table.from_pylist(rows, FETCHED))


def download_sources(sources: Sources) -> list[Any]:
    """Download the sources with an hf:// address; return all sources as local files."""
    found = (
        download_address(path) if isinstance(path, str) and path.startswith("hf://") else [path]
        for path in source_paths(sources)
    )
    return [file for files in found for file in files]


def download_address(address: str) -> list[str]:
    """Download the files at hf://datasets/owner/name/PATTERN or hf://buckets/owner/name/FOLDER.

    They are kept in the cache of the hub's library. A folder of a bucket means all data in it.
    """
    place, pattern = _read_address(address, "main")
    folder = ""
    if place.revision is None:
        is_folder = not re.search(r"[*?\[]", pattern) and not pattern.endswith(SUFFIXES)
        folder = pattern if is_folder else re.split(r"[*?\[]", pattern)[0].rpartition("/")[0]
        pattern = "" if is_folder else pattern
    elif not pattern:
        raise AuditError(f"{address}: write {LAYOUTS}")
    place, files = _list_files(place, folder)
    if pattern:
        remotes = [file for file in files if fnmatch.fnmatchcase(file.path, pattern)]
    else:
        remotes = select_light_copy([f for f in files if f.path.endswith(SUFFIXES)])
    if not remotes:
        known = sorted(file.path for file in files)
        raise AuditError(f"{address}: {not_there('file', pattern, known)}")
    kept = re.sub(r"\W", "-", f"{place.name}@{place.revision or 'bucket'}")
    cache = Path(place.hub.constants.HF_HUB_CACHE) / f"budget-audit--{kept}"
    for remote in remotes:
        _fetch_file(place, cache / remote.path, remote)
    return [str(cache / remote.path) for remote in sorted(remotes)]


def _read_address(address: str, revision: str) -> tuple[Place, str]:
    """Parse an hf:// address or owner/name; return the dataset or bucket and the path in it."""
    is_bucket = address.startswith(BUCKET)
    owner, _, rest = address.removeprefix(BUCKET).removeprefix(DATASET).partition("/")
    name, _, pattern = rest.partition("/")
    name, _, named_revision = name.partition("@")
    if not owner or not name or ":" in owner:
        raise AuditError(f"{address}: write {LAYOUTS}")
    try:
        import huggingface_hub as hub
    except ModuleNotFoundError:
        raise AuditError(
            f"this needs the hub's library; install it with {install_hint('hub')}"
        ) from None
    hub.logging.set_verbosity_error()
    hub.utils.disable_progress_bars()
    api = hub.HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None, library_name="budget-audit")
    at = None if is_bucket else named_revision or revision
    return Place(hub, api, f"{owner}/{name}", at), pattern.strip("/")


def _list_files(place: Place, folder: str) -> tuple[Place, list[Remote]]:
    """List the files of a dataset or bucket; return it at its commit, with the files."""
    try:
        if place.revision is None:
            return place, [
                Remote(file.path, file.size, file.xet_hash)
                for file in place.api.list_bucket_tree(place.name, folder or None, recursive=True)
                if file.type == "file"
            ]
        info = place.api.dataset_info(
            place.name, revision=place.revision, files_metadata=True, timeout=30
        )
    except Exception as error:
        raise _explain_error(place, error) from None
    hashes = [(file, file.lfs.sha256 if file.lfs else file.blob_id) for file in info.siblings]
    files = [Remote(file.rfilename, file.size, hash, hash) for file, hash in hashes]
    return place._replace(revision=info.sha), files


def select_files(archive: str, remotes: Sequence[Remote], where: str) -> list[Remote]:
    """Select the data files of an archive, preferably the copy without per-token lists."""
    data = [
        remote
        for remote in remotes
        if remote.path.endswith(SUFFIXES) and ".." not in remote.path.split("/")
    ]
    # Match a folder or file of that name, or else the name inside a path.
    part = re.compile(rf"(?<![A-Za-z0-9]){re.escape(archive)}(?![A-Za-z0-9])")
    matching = [remote for remote in data if archive in _split_path(remote.path)]
    matching = matching or [remote for remote in data if part.search(remote.path)]
    if not matching:
        folders = sorted({remote.path.rpartition("/")[0] or "." for remote in data})
        raise AuditError(
            f"{where}: no data file of archive '{archive}'; check --archive; "
            f"there are files in {', '.join(folders[:20]) or 'no folder'}"
        )
    return select_light_copy(matching)


def select_light_copy(remotes: list[Remote]) -> list[Remote]:
    """Select the files of the copy called meta, which has no per-token lists, if there is one."""
    light = [remote for remote in remotes if "meta" in re.split(r"[/._-]", remote.path)]
    return light or remotes


def _split_path(path: str) -> list[str]:
    """Split a path into folders and the file name without suffix and shard number."""
    *folders, name = path.split("/")
    return [*folders, re.sub(r"(-\d+-of-\d+)?(\.[a-z]+)+$", "", name)]


def _fetch_file(place: Place, path: Path, remote: Remote) -> bool:
    """Download a file that is missing or damaged; return whether it was downloaded.

    A file of a bucket has no hash, so it is always downloaded again.
    """
    if remote.hash and path.is_file() and _find_damage(path, remote) is None:
        return False
    # The hash is part of the name, so a partial download of another version is never resumed.
    partial = path.with_name(f"{path.name}.{remote.version[:12]}.partial")
    partial.parent.mkdir(parents=True, exist_ok=True)
    arrived = -1
    while True:
        try:
            _transfer(place, partial, remote)
            break
        except Exception as error:
            before, arrived = arrived, partial.stat().st_size if partial.exists() else 0
            # Retry a broken connection as long as each attempt transfers some bytes.
            if not _is_network(error) or arrived in (before, 0):
                raise _explain_error(place, error) from None
    if damage := _find_damage(partial, remote):
        partial.unlink()
        raise AuditError(f"{path}: {damage}; it was removed, run fetch again")
    partial.replace(path)
    return True


def _transfer(place: Place, partial: Path, remote: Remote) -> None:
    """Append the missing bytes of a file; the hub's own download would not resume them."""
    from huggingface_hub.file_download import http_get

    hub, endpoint = place.hub, place.api.endpoint
    if place.revision is None:
        url = f"{endpoint}/buckets/{place.name}/resolve/{quote(remote.path, safe='')}"
    else:
        asked = {"repo_type": "dataset", "revision": place.revision, "endpoint": endpoint}
        url = hub.hf_hub_url(place.name, remote.path, **asked)
    headers = hub.utils.build_hf_headers(library_name="budget-audit")
    location = hub.get_hf_file_metadata(url, headers=headers).location
    if urlsplit(location).netloc != urlsplit(url).netloc:
        # The token must not be sent to another host; the address is signed.
        headers.pop("authorization", None)
    with open(partial, "ab") as stream:
        if stream.tell() > remote.bytes:
            stream.truncate(0)
        if stream.tell() < remote.bytes:
            http_get(location, stream, resume_size=stream.tell(), headers=headers)


def _find_damage(path: Path, remote: Remote) -> str | None:
    """Compare the size and hash of a file with the hub's; return the difference or None."""
    size = path.stat().st_size
    if size != remote.bytes:
        return f"has {size:,} bytes, the hub lists {remote.bytes:,}"
    if remote.hash is None:
        return None
    is_git = len(remote.hash) == 40
    digest = hashlib.sha1(b"blob %d\0" % size) if is_git else hashlib.sha256()
    with open(path, "rb") as stream:
        found = hashlib.file_digest(stream, lambda: digest).hexdigest()
    return None if found == remote.hash else f"has the hash {found}, the hub lists {remote.hash}"


def _is_network(error: Exception) -> bool:
    """Return whether an exception comes from the network or the hub."""
    package = type(error).__module__.split(".")[0]
    return package in NETWORK or isinstance(error, ConnectionError | TimeoutError)


def _explain_error(place: Place, error: Exception) -> Exception:
    """Translate an error of the hub into an AuditError with advice; return others unchanged."""
    for name, advice in ADVICE.items():
        if isinstance(error, getattr(place.hub.errors, name)):
            return AuditError(f"{place}: {advice}")
    if _is_network(error):
        reason = first_line(error.__cause__ or error)
        return AuditError(
            f"{place}: cannot be reached: {reason}; check the network or HF_ENDPOINT, then run "
            "fetch again: it goes on where it stopped"
        )
    return error
