"""After a run that was ended early nothing of it is left: no child process, no open socket."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fault_server import Fault, Received, serving
from faults.runs import Running, good, journal, make_project, started, word_of, words

pytest_plugins = ["llama_fixtures"]


def _processes() -> Iterator[tuple[int, int, bytes]]:
    """Number, parent and command line of every process there is."""
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
                yield int(each.name), parent, (each / "cmdline").read_bytes()
            except (OSError, ValueError):
                continue  # it has ended meanwhile


def _family_of(pid: int) -> set[int]:
    """The children of a process, their children, and so on."""
    found = list(_processes())
    family: set[int] = set()
    while new := {child for child, parent, _ in found if parent in {pid, *family}} - family:
        family |= new
    return family


def _connections_to(port: int) -> list[str]:
    """The established connections of this machine to a port of 127.0.0.1."""
    address = f"0100007F:{port:04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return [line for line in lines if line.split()[2] == address and line.split()[3] == "01"]


def _wait_for(holds: Callable[[], object], seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it has not happened in time"
        time.sleep(0.01)


def _abort(running: Running) -> None:
    """Interrupt a run twice, as a person in a hurry does."""
    running.signal(signal.SIGINT)
    running.until(lambda event: event["event"] == "stopping")
    running.signal(signal.SIGINT)
    began = time.monotonic()
    assert running.end() == 130
    assert time.monotonic() - began < 4


def test_no_socket_is_left(tmp_path: Path) -> None:
    """Connections on which a server hangs are closed by the run, which ends with no child."""

    def reply(request: Received) -> Fault | bytes:
        return good(request) if word_of(request) < "w00020" else Fault([], then="hang")

    with serving(reply) as server:
        root = make_project(tmp_path / "project", server.url, 100)
        with started(root, "suite.yaml", "--target", "model", "--json", "--workers", "16") as running:
            _wait_for(lambda: len(server.received) >= 36)
            assert len(_connections_to(server.port)) >= 16
            assert not _family_of(running.process.pid)
            _abort(running)
        _wait_for(lambda: not _connections_to(server.port), 2)


def _local_project(root: Path, model: Path) -> Path:
    make_project(root, "http://127.0.0.1:1", 20)
    target = {"name": "model", "provider": "local", "model": str(model), "max_output_tokens": 2000, "stop": ["\x01"]}
    (root / ".turnwise/targets.yaml").write_text(json.dumps({"targets": [target]}))
    return root


@pytest.mark.parametrize("ending", ["interrupted twice", "killed"])
def test_no_local_model_is_left(tmp_path: Path, tiny_model: Path, ending: str) -> None:
    """The process that runs a model on this machine goes with the run, however that ends."""
    pytest.importorskip("xllamacpp")
    root = _local_project(tmp_path / "project", tiny_model)
    with started(root, "suite.yaml", "--target", "model", "--json", "--workers", "2") as running:
        running.until_results(1)
        family = _family_of(running.process.pid)
        assert family
        if ending == "killed":
            running.signal(signal.SIGKILL)
            assert running.end() == -signal.SIGKILL
        else:
            _abort(running)
    _wait_for(lambda: not [pid for pid in family if _is_alive(pid)], 5)
    assert {record["case_id"] for record in journal(root)} < set(words(20))


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and pid != os.getpid()
