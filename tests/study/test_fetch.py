"""Fetching from a hub on localhost: what is asked for, resumed, checked, and said when it fails."""

import hashlib
import json
import re
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub")

import audit
from audit.errors import AuditError
from audit.study.fetch import ARCHIVES, REPO, REVISION, Remote, fetch, select_files
from tests.support.archives import attempt, write_parquet

CONTENT = {
    "README.md": b"# card",
    "meta/gpt-oss-20b_low/AIME24.parquet": b"PAR1" + bytes(range(256)) * 900,
    "meta/gpt-oss-20b_low/AIME25.jsonl": b"{}\n",
    "meta/gpt-oss-20b_high/AIME24.parquet": b"PAR1" + b"high" * 10_000,
    "meta/gpt-oss-20b_medium/AIME24.parquet": b"PAR1 medium",
    "gpt-oss-20b_low/AIME24.parquet": b"PAR1 and every token of it",
}
LOW = "meta/gpt-oss-20b_low/AIME24.parquet"
SMALL = "meta/gpt-oss-20b_low/AIME25.jsonl"


@dataclass
class Hub:
    """What the server holds, how it misbehaves, and what it was asked."""

    address: str = ""
    content: dict[str, bytes] = field(default_factory=lambda: dict(CONTENT))
    damaged: dict[str, bytes] = field(default_factory=dict)  # sent in place of the content
    cut: dict[str, int] = field(default_factory=dict)  # bytes before the connection breaks, once
    refused: set[str] = field(default_factory=set)  # answered with 503 from now on
    refuses_after_cut: bool = False
    store: str | None = None  # where files are, when not here
    status: tuple[int, str] | None = None  # instead of any listing
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)  # GET, path, range
    tokens: set[str | None] = field(default_factory=set)

    def transfers(self, path=None):
        return [
            (name, asked)
            for method, name, asked in self.requests
            if method == "GET" and path in (None, name)
        ]

    def tree(self):
        """The files of the bucket lab/traces, as the hub lists a bucket."""
        return [
            {
                "type": "file",
                "path": f"runs/{path}",
                "size": len(body),
                "xetHash": lfs(body)["sha256"],
                "mtime": "2026-01-01T00:00:00.000Z",
            }
            for path, body in self.content.items()
        ]

    def listing(self):
        return {
            "id": REPO,
            "sha": REVISION,
            "siblings": [
                {
                    "rfilename": path,
                    "size": len(body),
                    "blobId": git_hash(body),
                    **({"lfs": lfs(body)} if path.endswith(".parquet") else {}),
                }
                for path, body in self.content.items()
            ],
        }


def git_hash(body):
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


def lfs(body):
    return {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 130}


ASKED = ("/api/datasets/", "/datasets/", "/api/buckets/", "/buckets/", "/stored/")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.answer(with_body=False)

    def do_GET(self):
        self.answer(with_body=True)

    def answer(self, with_body):
        hub = self.server.hub
        path = self.path.partition("?")[0]
        if not path.startswith(ASKED):
            # The library asks for more by itself, once a process and without a token.
            return self.send(404, b"{}", {})
        hub.tokens.add(self.headers.get("Authorization"))
        if path.startswith("/api/buckets/lab/traces/tree/runs"):
            assert "recursive=" in self.path.lower()
            return self.send(200, json.dumps(hub.tree()).encode(), {})
        if path.startswith("/buckets/lab/traces/resolve/"):
            path = path.replace("/buckets/lab/traces/resolve/", "/stored/").replace("%2F", "/")
            path = path.replace("/stored/runs/", "/stored/")
        if path.startswith("/api/"):
            assert "blobs=" in self.path.lower()
            if hub.status:
                code, name = hub.status
                return self.send(code, b"{}", {"X-Error-Code": name})
            if path != f"/api/datasets/{REPO}/revision/{REVISION}":
                return self.send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            return self.send(200, json.dumps(hub.listing()).encode(), {})
        name = path.removeprefix(f"/datasets/{REPO}/resolve/{REVISION}/")
        if hub.store and name != path:
            linked = {"X-Linked-Etag": '"e"', "X-Linked-Size": str(len(hub.content[name]))}
            linked |= {"X-Repo-Commit": REVISION, "Location": f"{hub.store}/stored/{name}"}
            return self.send(302, b"", linked)
        name = name.removeprefix("/stored/")
        body = hub.content[name]
        headers = {
            "X-Repo-Commit": REVISION,
            "ETag": f'"{lfs(body)["sha256"] if name.endswith(".parquet") else git_hash(body)}"',
            "Accept-Ranges": "bytes",
        }
        asked = self.headers.get("Range")
        if with_body:
            hub.requests.append(("GET", name, asked))
        if with_body and name in hub.refused:
            return self.send(503, b"busy", {})
        body = hub.damaged.get(name, body)
        start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked else 0
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        sent = body[start:] if with_body else b""
        length = len(body) - start
        if with_body and name in hub.cut:
            sent = sent[: hub.cut.pop(name)]
            if hub.refuses_after_cut:
                hub.refused.add(name)
            self.close_connection = True
        self.send(206 if start else 200, sent, headers, length)

    def send(self, code, body, headers, length=None):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def hub(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.hub = Hub(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", server.hub.address)
    monkeypatch.setenv("HF_TOKEN", "hf_of_a_test")
    # The library writes in pieces of 10 MB, and waits between tries.
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 10_000)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    yield server.hub
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def elsewhere(hub):
    """Another host name for the same server, to which the hub redirects."""
    hub.store = hub.address.replace("127.0.0.1", "localhost")
    return hub


def relative(fetched, out):
    return [Path(row["file"]).relative_to(out).as_posix() for row in fetched]


def test_only_the_studys_archives_come_without_their_tokens(hub, tmp_path):
    fetched = fetch(tmp_path)
    wanted = sorted(p for p in CONTENT if p.startswith(tuple(f"meta/{a}/" for a in ARCHIVES)))
    assert relative(fetched, tmp_path) == wanted
    assert fetched["bytes"].to_pylist() == [len(CONTENT[path]) for path in wanted]
    assert all(
        Path(row["file"]).read_bytes() == CONTENT[path]
        for row, path in zip(fetched, wanted, strict=True)
    )
    assert {name for name, _ in hub.transfers()} == set(wanted)
    assert all(row["is_new"] for row in fetched)


def test_a_store_elsewhere_is_not_told_the_token(elsewhere, tmp_path):
    fetch(tmp_path)
    assert (tmp_path / LOW).read_bytes() == CONTENT[LOW]
    assert elsewhere.tokens == {"Bearer hf_of_a_test", None}
    assert elsewhere.transfers(LOW) == [(LOW, None)]


def test_a_second_run_transfers_nothing_and_a_damaged_file_again(hub, tmp_path):
    fetch(tmp_path)
    hub.requests.clear()
    assert not any(row["is_new"] for row in fetch(tmp_path))
    assert hub.transfers() == []
    body = bytearray(CONTENT[LOW])
    body[100] ^= 1
    (tmp_path / LOW).write_bytes(body)
    assert [row["file"] for row in fetch(tmp_path) if row["is_new"]] == [str(tmp_path / LOW)]
    assert (tmp_path / LOW).read_bytes() == CONTENT[LOW]


def test_a_connection_that_breaks_is_taken_up_where_it_broke(hub, tmp_path):
    hub.cut[LOW] = 100_000
    fetch(tmp_path)
    assert hub.transfers(LOW) == [(LOW, None), (LOW, "bytes=100000-")]
    assert (tmp_path / LOW).read_bytes() == CONTENT[LOW]


def test_a_run_that_failed_is_taken_up_by_the_next_one(hub, tmp_path):
    hub.cut[LOW] = 70_000
    hub.refuses_after_cut = True
    with pytest.raises(AuditError, match=r"cannot be reached.*goes on where it stopped"):
        fetch(tmp_path)
    assert not (tmp_path / LOW).exists()
    hub.refused.clear()
    hub.requests.clear()
    fetch(tmp_path)
    assert hub.transfers(LOW) == [(LOW, "bytes=70000-")]
    assert (tmp_path / LOW).read_bytes() == CONTENT[LOW]


@pytest.mark.parametrize("path", [LOW, SMALL])
def test_a_corrupted_file_is_refused_and_removed(hub, tmp_path, path):
    body = bytearray(CONTENT[path])
    body[0] ^= 1
    hub.damaged[path] = bytes(body)
    with pytest.raises(AuditError, match=r"has the hash \w+, the hub lists \w+; it was removed"):
        fetch(tmp_path)
    assert not (tmp_path / path).exists()
    hub.damaged.clear()
    fetch(tmp_path)
    assert (tmp_path / path).read_bytes() == CONTENT[path]


def test_a_file_of_another_size_is_refused(hub, tmp_path):
    for body in (CONTENT[LOW][:-5], CONTENT[LOW] + b"and more"):
        hub.damaged[LOW] = body
        with pytest.raises(AuditError, match=r"has [\d,]+ bytes, the hub lists [\d,]+; "):
            fetch(tmp_path)
        assert not (tmp_path / LOW).exists()
    hub.damaged.clear()
    fetch(tmp_path)
    assert (tmp_path / LOW).read_bytes() == CONTENT[LOW]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ((404, "RepoNotFound"), "not there, or not open to you; check --repo, or set HF_TOKEN"),
        ((403, "GatedRepo"), "asks for consent"),
        ((404, "RevisionNotFound"), "check --revision"),
        ((500, ""), "cannot be reached"),
    ],
)
def test_what_the_hub_refuses_is_told_in_one_line(hub, tmp_path, status, message):
    hub.status = status
    with pytest.raises(AuditError, match=message) as caught:
        fetch(tmp_path)
    assert "\n" not in str(caught.value)
    assert hub.address in str(caught.value)


def test_an_unknown_revision_archive_or_repository_name_is_told(hub, tmp_path):
    with pytest.raises(AuditError, match="@nowhere: there is no such revision; check --revision"):
        fetch(tmp_path, revision="nowhere")
    with pytest.raises(
        AuditError, match=r"no data file of archive 'low_gpt'.*meta/gpt-oss-20b_low"
    ):
        fetch(tmp_path, archives=["low_gpt"])
    with pytest.raises(AuditError, match="--repo a/b/c: not the name of a dataset"):
        fetch(tmp_path, repo="a/b/c")
    assert list(tmp_path.iterdir()) == []


def test_without_network_there_is_a_clear_line(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(AuditError, match=r"http://127\.0\.0\.1:9/.*cannot be reached.*HF_ENDPOINT"):
        fetch(tmp_path)


def test_without_the_extra_there_is_a_clear_line(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(AuditError, match=r"pip install '.*\[hub\]'"):
        fetch(tmp_path)


def named(*paths):
    return [Remote(path, 1, None, "0") for path in paths]


def test_an_archive_is_the_folder_or_file_of_that_name_or_else_a_part_of_the_path():
    exact = ("m_low/a.jsonl", "a/m_low.parquet", "a/m_low-00001-of-00002.jsonl.gz")
    loose = ("a/m_low-aime.parquet",)
    others = ("m_low/notes.txt", "../m_low/a.parquet", "m_lower/a.parquet", "m/low.parquet")
    found = select_files("m_low", named(*exact, *loose, *others), "here")
    assert [remote.path for remote in found] == list(exact)
    found = select_files("m_low", named(*loose, *others), "here")
    assert [remote.path for remote in found] == list(loose)


BUCKET = "hf://buckets/lab/traces/runs"


def test_a_storage_bucket_is_a_second_address(hub, tmp_path):
    fetched = fetch(tmp_path, repo=BUCKET, archives=["gpt-oss-20b_low"])
    assert relative(fetched, tmp_path) == [f"runs/{LOW}", f"runs/{SMALL}"]
    assert (tmp_path / "runs" / LOW).read_bytes() == CONTENT[LOW]
    # A bucket changes in place and lists no hash of its files: they are sent again.
    hub.content[LOW] = b"PAR1 changed"
    fetch(tmp_path, repo=BUCKET, archives=["gpt-oss-20b_low"])
    assert (tmp_path / "runs" / LOW).read_bytes() == b"PAR1 changed"


def test_a_bucket_that_breaks_off_is_taken_up_and_a_wrong_size_refused(hub, tmp_path):
    hub.cut[LOW] = 100_000
    fetch(tmp_path, repo=BUCKET, archives=["gpt-oss-20b_low"])
    assert len(hub.transfers(LOW)) == 2 and hub.transfers(LOW)[1][1].startswith("bytes=")
    hub.damaged[SMALL] = b"{}"
    with pytest.raises(AuditError, match="has 2 bytes, the hub lists 3"):
        fetch(tmp_path, repo=BUCKET, archives=["gpt-oss-20b_low"])


def test_an_address_without_a_bucket_is_told(hub, tmp_path):
    with pytest.raises(AuditError, match="hf://buckets/lab: write owner/name"):
        fetch(tmp_path, repo="hf://buckets/lab")


def test_files_of_a_dataset_are_loaded_by_their_address(hub, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    rows = tmp_path / "rows.parquet"
    write_parquet([attempt(1, 10, "4", correct=True), attempt(2, 20, "5")], rows)
    hub.content["data/part.parquet"] = rows.read_bytes()
    address = f"hf://datasets/{REPO}@{REVISION}/data/*.parquet"
    loaded = audit.load(tmp_path / "a.duckdb", address)
    assert loaded.to_pylist() == [{"archive": "a", "attempts": 2, "problems": 1}]
    with pytest.raises(AuditError, match=r"no file 'dta/\*.parquet'; .*there are "):
        audit.load(tmp_path / "a.duckdb", address.replace("data/*", "dta/*"))
    with pytest.raises(AuditError, match=r"write .*hf://datasets/owner/name/PATTERN"):
        audit.load(tmp_path / "a.duckdb", "hf://datasets/owner")


@pytest.mark.parametrize("part", ["runs", "runs/meta/*/low.parquet", "runs/meta/a/low.parquet"])
def test_files_of_a_bucket_are_loaded_by_their_address(hub, tmp_path, monkeypatch, part):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    rows = tmp_path / "rows.parquet"
    write_parquet([attempt(1, 10, "4", correct=True), attempt(2, 20, "5")], rows)
    hub.content = {"meta/a/low.parquet": rows.read_bytes(), "a/low.parquet": b"with every token"}
    loaded = audit.load(tmp_path / "a.duckdb", f"hf://buckets/lab/traces/{part}")
    assert loaded.to_pylist() == [{"archive": "a", "attempts": 2, "problems": 1}]
    with pytest.raises(AuditError, match=r"or hf://buckets/owner/name/FOLDER"):
        audit.load(tmp_path / "a.duckdb", "hf://buckets/lab")
