"""The study's archive from the hub: only the files it needs, resumed, checked against hashes."""

import fnmatch
import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import pyarrow as pa

from audit.errors import AuditError, extra_hint, first_line
from audit.options import Names, Sources, names, source_paths
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
# Failures of these packages are the network's or the hub's, not this program's.
NETWORK = ("httpx", "httpx2", "requests", "urllib3", "huggingface_hub", "hf_xet")


class Remote(NamedTuple):
    """A file as the hub lists it: large files have a sha256, small ones git's hash.

    A file of a bucket has neither, only `version`, which changes with its content.
    """

    path: str
    bytes: int
    sha256: str | None
    git_hash: str | None
    version: str = ""


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
    repo, (hub, api) = repo or REPO, _hub()
    commit, files = _list_files(hub, api, repo, revision or REVISION)
    where = f"{repo}@{commit}"
    chosen = {
        remote
        for archive in names(archives) or ARCHIVES
        for remote in files_of(archive, files, where)
    }
    total, done = sum(remote.bytes for remote in chosen), 0
    rows = []
    for remote in sorted(chosen):
        if progress:
            progress(remote.path, done, total)
        path = Path(out) / remote.path
        is_new = _fetch_file(hub, api, path, repo, commit, remote)
        rows.append({"file": str(path), "bytes": remote.bytes, "is_new": is_new})
        done += remote.bytes
    if progress:
        progress("done", total, total)
    return Result(pa.Table.from_pylist(rows, FETCHED))


def local_files(sources: Sources) -> list[Any]:
    """Return the sources; those at the hub's address are brought here as files first."""
    found = (
        hub_files(source) if isinstance(source, str) and source.startswith("hf://") else [source]
        for source in source_paths(sources)
    )
    return [file for files in found for file in files]


def hub_files(address: str) -> list[str]:
    """Return the files at hf://datasets/owner/name/PATTERN or hf://buckets/owner/name/FOLDER.

    They are kept where the hub's library keeps its own.
    """
    kind = next((kind for kind in (DATASET, BUCKET) if address.startswith(kind)), DATASET)
    owner, _, rest = address.removeprefix(kind).partition("/")
    name, _, pattern = rest.partition("/")
    name, _, revision = name.partition("@")
    is_complete = bool(owner and name and (pattern or kind == BUCKET))
    if not address.startswith(kind) or not is_complete:
        raise AuditError(
            f"{address}: write {DATASET}owner/name/PATTERN, such as …/*.parquet, "
            f"or {BUCKET}owner/name/FOLDER"
        )
    hub, api = _hub()
    if kind == BUCKET:
        repo, pattern = _bucket_part(f"{BUCKET}{owner}/{name}", pattern)
    else:
        repo = f"{owner}/{name}"
    commit, files = _list_files(hub, api, repo, revision or "main")
    if pattern:
        chosen = [file for file in files if fnmatch.fnmatchcase(file.path, pattern)]
    else:
        chosen = without_token_lists([f for f in files if f.path.endswith(SUFFIXES)])
    if not chosen:
        known = sorted(file.path for file in files)
        raise AuditError(f"{address}: {not_there('file', pattern, known)}")
    return [_kept_file(hub, api, repo, commit, remote) for remote in sorted(chosen)]


def _bucket_part(repo: str, pattern: str) -> tuple[str, str]:
    """Return the bucket's folder to list, and the pattern; a folder alone means all data in it."""
    if not any(sign in pattern for sign in "*?[") and not pattern.endswith(SUFFIXES):
        return f"{repo}/{pattern}".rstrip("/"), ""
    folder = re.split(r"[*?\[]", pattern)[0].rpartition("/")[0]
    return f"{repo}/{folder}".rstrip("/"), pattern


def _kept_file(hub: Any, api: Any, repo: str, commit: str, remote: Remote) -> str:
    """Return the path of a file of the hub, transferred where it is not there yet."""
    if repo.startswith(BUCKET):
        folder = "buckets--" + _bucket(repo)[0].replace("/", "--")
        path = Path(hub.constants.HF_HUB_CACHE) / folder / remote.path
        _fetch_file(hub, api, path, repo, commit, remote)
        return str(path)
    try:
        kept: str = hub.hf_hub_download(
            repo, remote.path, repo_type="dataset", revision=commit, endpoint=api.endpoint
        )
    except Exception as error:
        raise _explained(hub, api, error, repo, commit) from None
    return kept


def _hub() -> tuple[Any, Any]:
    """Import the hub's library without its messages and bars; return it and what asks the hub."""
    try:
        import huggingface_hub
    except ModuleNotFoundError:
        raise AuditError(
            f"this needs the hub's library; install it with {extra_hint('hub')}"
        ) from None
    huggingface_hub.logging.set_verbosity_error()
    huggingface_hub.utils.disable_progress_bars()
    endpoint = os.environ.get("HF_ENDPOINT") or None
    return huggingface_hub, huggingface_hub.HfApi(endpoint=endpoint, library_name="budget-audit")


def _list_files(hub: Any, api: Any, repo: str, revision: str) -> tuple[str, list[Remote]]:
    """Return the commit of a revision, and its files."""
    try:
        if repo.startswith(BUCKET):
            name, prefix = _bucket(repo)
            return "bucket", [
                Remote(file.path, file.size, None, None, file.xet_hash)
                for file in api.list_bucket_tree(name, prefix or None, recursive=True)
                if file.type == "file"
            ]
        info = api.dataset_info(repo, revision=revision, files_metadata=True, timeout=30)
    except Exception as error:
        raise _explained(hub, api, error, repo, revision) from None
    return info.sha, [
        Remote(f.rfilename, f.size, f.lfs.sha256 if f.lfs else None, None if f.lfs else f.blob_id)
        for f in info.siblings
    ]


def _bucket(address: str) -> tuple[str, str]:
    """Return a bucket's owner/name, and the folder in it."""
    owner, _, rest = address.removeprefix(BUCKET).partition("/")
    name, _, prefix = rest.partition("/")
    if not owner or not name:
        raise AuditError(f"--repo {address}: write {BUCKET}owner/name")
    return f"{owner}/{name}", prefix.strip("/")


def files_of(archive: str, remotes: Sequence[Remote], where: str) -> list[Remote]:
    """Return an archive's data files, without the copy that has a list entry per token."""
    data = [
        remote
        for remote in remotes
        if remote.path.endswith(SUFFIXES) and ".." not in remote.path.split("/")
    ]
    # A folder or a file of that name; where there is none, the name as a part of the path.
    part = re.compile(rf"(?<![A-Za-z0-9]){re.escape(archive)}(?![A-Za-z0-9])")
    matching = [remote for remote in data if archive in _names(remote.path)]
    matching = matching or [remote for remote in data if part.search(remote.path)]
    if not matching:
        folders = sorted({remote.path.rpartition("/")[0] or "." for remote in data})
        raise AuditError(
            f"{where}: no data file of archive '{archive}'; check --archive; "
            f"there are files in {', '.join(folders[:20]) or 'no folder'}"
        )
    return without_token_lists(matching)


def without_token_lists(remotes: list[Remote]) -> list[Remote]:
    """Return the files of the copy called meta; the other copy has a list entry per token."""
    light = [remote for remote in remotes if "meta" in re.split(r"[/._-]", remote.path)]
    return light or remotes


def _names(path: str) -> list[str]:
    """Return the folders of a path and its file's name without suffix and shard number."""
    *folders, name = path.split("/")
    return [*folders, re.sub(r"(-\d+-of-\d+)?(\.[a-z]+)+$", "", name)]


def _fetch_file(hub: Any, api: Any, path: Path, repo: str, commit: str, remote: Remote) -> bool:
    """Transfer a file if it is missing or damaged, resume a begun one; return whether it was.

    A file of a bucket has no hash: it is always sent again.
    """
    has_hash = remote.sha256 or remote.git_hash
    if has_hash and path.is_file() and _damage(path, remote) is None:
        return False
    # The hash is part of the name, so a partial download of another version is never resumed.
    version = (remote.sha256 or remote.git_hash or remote.version)[:12]
    partial = path.with_name(f"{path.name}.{version}.partial")
    partial.parent.mkdir(parents=True, exist_ok=True)
    arrived = -1
    while True:
        try:
            _transfer(hub, api, partial, repo, commit, remote)
            break
        except Exception as error:
            before, arrived = arrived, partial.stat().st_size if partial.exists() else 0
            # A connection that broke is taken up again as long as each one brings something.
            if not _is_network(error) or arrived in (before, 0):
                raise _explained(hub, api, error, repo, commit) from None
    if damage := _damage(partial, remote):
        partial.unlink()
        raise AuditError(f"{path}: {damage}; it was removed, run fetch again")
    partial.replace(path)
    return True


def _transfer(hub: Any, api: Any, partial: Path, repo: str, commit: str, remote: Remote) -> None:
    """Append what is missing of a file; the hub's own download starts anew in every process."""
    from huggingface_hub.file_download import http_get

    if repo.startswith(BUCKET):
        url = f"{api.endpoint}/buckets/{_bucket(repo)[0]}/resolve/{quote(remote.path, safe='')}"
    else:
        url = hub.hf_hub_url(
            repo, remote.path, repo_type="dataset", revision=commit, endpoint=api.endpoint
        )
    headers = hub.utils.build_hf_headers(library_name="budget-audit")
    location = hub.get_hf_file_metadata(url, headers=headers).location
    if urlsplit(location).netloc != urlsplit(url).netloc:
        # A store that is not the hub gets a signed address, not the token.
        headers.pop("authorization", None)
    with open(partial, "ab") as stream:
        if stream.tell() > remote.bytes:
            stream.truncate(0)
        if stream.tell() < remote.bytes:
            http_get(location, stream, resume_size=stream.tell(), headers=headers)


def _damage(path: Path, remote: Remote) -> str | None:
    """Return how a file differs from what the hub lists, or None."""
    size = path.stat().st_size
    if size != remote.bytes:
        return f"has {size:,} bytes, the hub lists {remote.bytes:,}"
    expected = remote.sha256 or remote.git_hash
    if expected is None:
        return None
    prefix = b"" if remote.sha256 else f"blob {size}\0".encode()
    algorithm = "sha256" if remote.sha256 else "sha1"
    with open(path, "rb") as stream:
        digest = hashlib.file_digest(stream, lambda: hashlib.new(algorithm, prefix)).hexdigest()
    return None if digest == expected else f"has the hash {digest}, the hub lists {expected}"


def _is_network(error: Exception) -> bool:
    package = type(error).__module__.split(".")[0]
    return package in NETWORK or isinstance(error, ConnectionError | TimeoutError)


def _explained(hub: Any, api: Any, error: Exception, repo: str, revision: str) -> Exception:
    """Return the hub's failure in one line with the next step, or any other error as it is."""
    where = repo if repo.startswith(BUCKET) else f"{api.endpoint}/datasets/{repo}"
    errors = hub.errors
    if isinstance(error, errors.HFValidationError):
        return AuditError(f"--repo {repo}: not the name of a dataset, which is owner/name")
    if isinstance(error, errors.GatedRepoError):
        return AuditError(f"{where}: asks for consent; give it there, then set HF_TOKEN")
    if isinstance(error, errors.RepositoryNotFoundError):
        return AuditError(f"{where}: not there, or not open to you; check --repo, or set HF_TOKEN")
    if isinstance(error, errors.RevisionNotFoundError):
        return AuditError(f"{where}: has no revision '{revision}'; check --revision")
    if isinstance(error, errors.OfflineModeIsEnabled):
        return AuditError("HF_HUB_OFFLINE is set; unset it to fetch")
    if _is_network(error):
        reason = first_line(error.__cause__ or error)
        return AuditError(
            f"{where}: cannot be reached: {reason}; check the network or HF_ENDPOINT, then run "
            "fetch again: it goes on where it stopped"
        )
    return error
