"""Health checks: tried once, before the first request, in the target's surroundings; a failure is every request's."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agent_scripts import answers, cli, failure, gone, outcomes, request, script
from turnwise.errors import SetupError

ECHO = ["echo", "{PROMPT}"]


def command_check(code: str, **settings: Any) -> dict[str, Any]:
    return {"type": "command", "command": script(code), **settings}


@contextmanager
def server(status: int) -> Iterator[tuple[str, list[str]]]:
    """A server that answers with a status, and the paths that it was asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/health", paths
        running.shutdown()
        thread.join()


def test_a_check_is_run_once(tmp_path: Path) -> None:
    """However many requests there are, and however many come at once."""
    code = f"open({str(tmp_path / 'checks')!r}, 'a').write('x')"
    assert len(answers(cli(tmp_path, ECHO, healthcheck=command_check(code)), *"abcde")) == 5
    assert (tmp_path / "checks").read_text() == "x"


def test_a_check_that_fails_fails_every_request(tmp_path: Path) -> None:
    """Each has an error of its own, which says what was tried and what came back; the program is never started."""
    code = f"import sys; open({str(tmp_path / 'checks')!r}, 'a').write('x'); sys.exit('no model loaded')"
    started = [sys.executable, "-c", f"open({str(tmp_path / 'started')!r}, 'w')"]
    found = outcomes(cli(tmp_path, started, healthcheck=command_check(code)), *"abc", together=False)
    assert all(isinstance(each, SetupError) and "no model loaded" in str(each) for each in found)
    assert all("`healthcheck` ended with exit code 1" in str(each) for each in found)
    assert len({id(each) for each in found}) == 3
    assert (tmp_path / "checks").read_text() == "x"
    assert not (tmp_path / "started").exists()


def test_a_check_sees_what_the_target_sees(tmp_path: Path) -> None:
    """Its variables, and no others; a folder of its own unless one is named."""
    code = "import os,sys; sys.exit(f\"{os.environ.get('SET')} {'HIDDEN' in os.environ} {os.listdir()}\")"
    known = {"PATH": "/usr/bin:/bin", "HIDDEN": "x"}
    error = failure(cli(tmp_path, ECHO, environment=known, env={"SET": "set"}, healthcheck=command_check(code)))
    assert "set False []" in str(error)


def test_a_check_runs_in_its_own_cwd(tmp_path: Path) -> None:
    """`cwd` starts at the project; one that is not there is told."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "here").touch()
    code = "import os,sys; sys.exit(str(os.listdir()))"
    assert "['here']" in str(failure(cli(tmp_path, ECHO, healthcheck=command_check(code, cwd="app"))))
    assert "no folder" in str(failure(cli(tmp_path, ECHO, healthcheck=command_check(code, cwd="nowhere"))))


def test_a_check_that_hangs_is_ended(tmp_path: Path) -> None:
    """It has a time limit, and its process is gone."""
    code = f"import os,time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    error = failure(cli(tmp_path, ECHO, healthcheck=command_check(code, timeout=0.5)))
    assert "was ended after 0.5 s" in str(error)
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_check_tells_no_secret(tmp_path: Path) -> None:
    """A key that it prints is taken out of the error."""
    code = "import os,sys; sys.exit(os.environ['MY_API_KEY'])"
    known = {"PATH": "/usr/bin:/bin", "KEY_VALUE": "sk-0123456789abcdef"}
    settings: dict[str, Any] = {"env": {"MY_API_KEY": "${{ KEY_VALUE }}"}, "environment": known}
    error = failure(cli(tmp_path, ECHO, healthcheck=command_check(code), **settings))
    assert "sk-0123456789abcdef" not in str(error)
    assert "[redacted]" in str(error)


@pytest.mark.parametrize("status", [200, 204])
def test_an_address_that_answers_is_healthy(tmp_path: Path, status: int) -> None:
    """Any status of 2xx; it is asked once."""
    with server(status) as (url, paths):
        assert answers(cli(tmp_path, ECHO, healthcheck={"type": "http", "url": url}), *"ab") == ["Do it."] * 2
    assert paths == ["/health"]


@pytest.mark.parametrize("status", [404, 503])
def test_an_address_with_another_status_is_not(tmp_path: Path, status: int) -> None:
    """The error names the address and the status."""
    with server(status) as (url, _):
        error = failure(cli(tmp_path, ECHO, healthcheck={"type": "http", "url": url}))
    assert isinstance(error, SetupError)
    assert url in str(error)
    assert str(status) in str(error)


def test_an_address_where_nobody_listens_is_told(tmp_path: Path) -> None:
    """A refused connection fails the check."""
    error = failure(cli(tmp_path, ECHO, healthcheck={"type": "http", "url": "http://127.0.0.1:9/", "timeout": 5}))
    assert isinstance(error, SetupError)
    assert "http://127.0.0.1:9/" in str(error)


def test_a_check_of_a_cancelled_request_is_no_failure(tmp_path: Path) -> None:
    """Who does not wait any more ends nothing for the others; and closing ends a check that still runs."""

    async def ask() -> tuple[str, bool]:
        provider = cli(tmp_path, ECHO, healthcheck=command_check("import time; time.sleep(0.3)"))
        first = asyncio.ensure_future(provider.ask(request("a")))
        await asyncio.sleep(0.05)
        first.cancel()
        answer = await provider.ask(request("b"))
        await provider.close()
        hung = cli(tmp_path, ECHO, healthcheck=command_check("import time; time.sleep(60)"))
        second = asyncio.ensure_future(hung.ask(request("a")))
        await asyncio.sleep(0.1)
        second.cancel()
        await hung.close()
        return answer.text, first.cancelled()

    assert asyncio.run(ask()) == ("Do it.", True)
