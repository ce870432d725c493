"""The one way in which agents are asked: each request alone in its workspace, every failure an error with a name."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from agent_fixtures import asked, guideline, provider, request_of
from turnwise.conversation.values import File
from turnwise.errors import ApplicationError, AuthenticationError, ProtocolError, ProviderTimeoutError, SetupError
from turnwise.providers.agents.work import AgentWork

LEAVES_TRACES = """
import os, pathlib
home, here = pathlib.Path.home(), pathlib.Path.cwd()
print(sorted(p.name for p in (*home.iterdir(), *here.iterdir(), *pathlib.Path(os.environ["TMPDIR"]).iterdir())))
for folder in (home, here, pathlib.Path(os.environ["TMPDIR"])):
    (folder / "trace.txt").write_text("I was here")
if (here / "template.txt").exists():
    (here / "template.txt").write_text("changed")
"""
PRINTS_ENVIRONMENT = "import os, json; print(json.dumps(dict(os.environ)))"


def work_of(agent_work: AgentWork | None) -> AgentWork:
    """What must be there."""
    assert agent_work is not None
    return agent_work


def test_no_request_sees_another(tmp_path: Path) -> None:
    """What one writes into its HOME, its workspace and its temporary folder is not there for the next."""
    answers = asked(provider(tmp_path, LEAVES_TRACES), request_of(), request_of())
    assert [each.text for each in answers] == ["[]", "[]"]


def test_nothing_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the provider is closed, nothing of any workspace is on disk."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temp"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    (tmp_path / "template").mkdir()
    asked(provider(tmp_path, LEAVES_TRACES, workspace_template="template"))
    assert list((tmp_path / "temp").iterdir()) == []


def test_a_template_is_copied(tmp_path: Path) -> None:
    """Each workspace is a copy of the template as it was at first; the template itself does not change."""
    (tmp_path / "template").mkdir()
    (tmp_path / "template/template.txt").write_text("original")
    script = LEAVES_TRACES + f"pathlib.Path({str(tmp_path / 'template/more.txt')!r}).write_text('found it')\n"
    answers = asked(provider(tmp_path, script, workspace_template="template"), request_of(), request_of())
    assert [each.text for each in answers] == ["['template.txt']", "['template.txt']"]
    assert (tmp_path / "template/template.txt").read_text() == "original"
    assert [each.path for each in work_of(answers[0].agent).changes.files] == ["template.txt", "trace.txt"]


def _git(folder: Path, *arguments: str) -> str:
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "HOME": str(folder), "PATH": os.environ["PATH"]}
    command = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.com", *arguments]
    return subprocess.run(command, env=own, check=True, capture_output=True, text=True).stdout.strip()


def test_a_working_tree_at_a_revision(tmp_path: Path) -> None:
    """A workspace can be a revision of a repository; what the agent commits there is not in the original."""
    repository = tmp_path / "repo"
    repository.mkdir()
    _git(repository, "init", "-q", "-b", "main")
    (repository / "a.txt").write_text("first")
    _git(repository, "add", "a.txt")
    _git(repository, "commit", "-qm", "first")
    _git(repository, "branch", "old")
    (repository / "a.txt").write_text("second")
    _git(repository, "commit", "-qam", "second")
    refs = _git(repository, "for-each-ref")
    script = (
        "import subprocess; print(open('a.txt').read()); open('b.txt', 'w').write('new')\n"
        "git = ['git', '-c', 'user.name=B', '-c', 'user.email=b@example.com']\n"
        "for step in (['checkout', '-qb', 'mine'], ['add', '.'], ['commit', '-qm', 'mine']):\n"
        "    subprocess.run([*git, *step], check=True)\n"
        "print(subprocess.run(['git', 'remote'], capture_output=True, text=True).stdout)\n"
    )
    [answer] = asked(provider(tmp_path, script, workspace_template="repo", workspace_revision="old"))
    assert answer.text == "first"
    assert _git(repository, "for-each-ref") == refs
    assert _git(repository, "status", "--porcelain") == ""
    assert [each.path for each in work_of(answer.agent).changes.files] == ["b.txt"]


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"workspace_template": "nowhere"}, "`workspace_template` does not exist"),
        ({"cwd": "nowhere"}, "`cwd` does not exist"),
        ({"workspace_template": ".", "workspace_revision": "no-such"}, "there is no working tree of 'no-such'"),
        ({"setup": ["false"]}, "`setup` ended with exit code 1"),
        ({"setup": ["no-such-program-here"]}, "`setup`: there is no program 'no-such-program-here' on the PATH"),
        ({"setup": "echo no >&2; exit 3"}, "`setup` ended with exit code 3; the end of its stderr: no"),
        ({"executable": "no-such-agent"}, "Scripted is not installed: there is no program 'no-such-agent' on the PATH"),
        ({"executable": "./agent"}, "Scripted cannot be started: there is no file "),
    ],
)
def test_what_keeps_an_agent_from_starting(tmp_path: Path, settings: dict[str, Any], found: str) -> None:
    """Each mistake of a target is an error that names it, and nothing was asked."""
    with pytest.raises(SetupError) as raised:
        asked(provider(tmp_path, "print(1)", **settings))
    assert found in str(raised.value)
    if "installed" in found:
        assert "install-scripted" in (raised.value.hint or "")


def test_a_step_that_is_a_text_is_run_by_a_shell(tmp_path: Path) -> None:
    """What people write for a shell does what they mean; a list is run as it is."""
    listing = "import os; print(*sorted(os.listdir()))"
    (by_text,) = asked(provider(tmp_path, listing, setup="touch a && touch b"))
    (by_list,) = asked(provider(tmp_path, listing, setup=["touch", "a", "&&"]))
    assert (by_text.text, by_list.text) == ("a b", "&& a")


def test_a_file_that_may_not_be_executed_is_told_so(tmp_path: Path) -> None:
    """It is there: to install the agent would not help."""
    (tmp_path / "agent").write_text("#!/bin/sh\n")
    with pytest.raises(SetupError, match="may not be executed") as raised:
        asked(provider(tmp_path, "print(1)", executable="./agent"))
    assert "chmod +x" in (raised.value.hint or "")


def test_steps_before_and_after(tmp_path: Path) -> None:
    """`setup` runs in the fresh workspace before the agent, `teardown` after it; both are no work of the agent's."""
    setup = ["sh", "-c", "echo prepared > ready.txt"]
    teardown = ["sh", "-c", f"cp -r . {tmp_path / 'after'}; echo late > late.txt"]
    [answer] = asked(provider(tmp_path, "print(open('ready.txt').read())", setup=setup, teardown=teardown))
    assert answer.text == "prepared"
    assert work_of(answer.agent).changes.files == ()
    assert (tmp_path / "after/ready.txt").exists()


def test_the_environment_is_an_allow_list(tmp_path: Path) -> None:
    """An agent sees the usual variables, those that are passed or set for it, and a HOME of its own."""
    own = {"XDG_CONFIG_HOME": "/mine", "SCRIPTED_HOME": "/mine", "OPENAI_API_KEY": "sk-of-somebody"}
    known = {**os.environ, **own, "PASSED": "yes", "OTHER": "no", "LC_ALL": "C.UTF-8"}
    agent = provider(tmp_path, PRINTS_ENVIRONMENT, environment=known, pass_env=["PASSED"], env={"OWN": "set"})
    [answer] = asked(agent)
    seen = eval(answer.text)
    assert seen["PASSED"] == "yes"
    assert seen["OWN"] == "set"
    assert seen["PATH"] == os.environ["PATH"]
    assert not {"OTHER", "XDG_CONFIG_HOME", "SCRIPTED_HOME"} & seen.keys()
    assert "sk-of-somebody" not in answer.text
    assert Path(seen["HOME"]) != Path(os.environ["HOME"])


def test_your_own_configuration_if_you_say_so(tmp_path: Path) -> None:
    """With `inherit_config`, the agent has your HOME and the folders of your configuration."""
    known = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": "/somewhere", "SCRIPTED_HOME": "/own"}
    [answer] = asked(provider(tmp_path, PRINTS_ENVIRONMENT, environment=known, inherit_config=True))
    seen = eval(answer.text)
    assert (seen["HOME"], seen["XDG_CONFIG_HOME"], seen["SCRIPTED_HOME"]) == (str(tmp_path), "/somewhere", "/own")


def test_files_are_where_the_prompt_says(tmp_path: Path) -> None:
    """The agent can open every link of what it is given, and the mirrored files are no changes of its own."""
    script = (
        "import re, sys, urllib.parse\n"
        "links = re.findall(r'file://([^)]+)', sys.stdin.read())\n"
        "print([open(urllib.parse.unquote(link)).read() for link in links])\n"
    )
    files = [guideline("rules/a b.md", "Rule"), File("../x.py", "x.py", "code")]
    [answer] = asked(provider(tmp_path, script), request_of(files=files))
    assert answer.text == "['Rule', 'code']"
    assert work_of(answer.agent).changes.files == ()


def test_a_folder_of_ones_own_is_not_filled(tmp_path: Path) -> None:
    """With `cwd` the agent works there; the case's files are elsewhere, and the folder stays when all is done."""
    (tmp_path / "mine").mkdir()
    script = "import os; open('done.txt', 'w').write('x'); print(os.listdir('.'))"
    [answer] = asked(provider(tmp_path, script, cwd="mine"), request_of(files=[guideline("rule.md", "R")]))
    assert answer.text == "['done.txt']"
    assert (tmp_path / "mine/done.txt").exists()
    assert [each.path for each in work_of(answer.agent).changes.files] == ["done.txt"]


@pytest.mark.parametrize(
    ("script", "kind", "found"),
    [
        (
            "import sys; sys.exit('it broke')",
            ApplicationError,
            "ended with exit code 1; the end of its stderr: it broke",
        ),
        ("import os; os.kill(os.getpid(), 9)", ApplicationError, "was ended by SIGKILL"),
        ("pass", ProtocolError, "ended without an answer"),
        ("import sys; sys.exit('401 Unauthorized: wrong key')", AuthenticationError, "could not sign in"),
    ],
)
def test_every_failure_is_a_typed_error(tmp_path: Path, script: str, kind: type[Exception], found: str) -> None:
    """How the program ended, and the end of what it complained, are in the error."""
    with pytest.raises(kind) as raised:
        asked(provider(tmp_path, script))
    assert found in str(raised.value)


def test_an_error_keeps_what_is_known(tmp_path: Path) -> None:
    """The changes, the exit code and the log of an agent that failed are in the error, for the record."""
    script = "import sys; open('half.txt', 'w').write('x'); print('so far'); sys.exit(3)"
    with pytest.raises(ApplicationError) as raised:
        asked(provider(tmp_path, script, logs=tmp_path / "logs"))
    record = raised.value.agent
    assert record is not None
    assert record["exit_code"] == 3
    assert record["changes"] == [{"path": "half.txt", "change": "added"}]
    assert Path(record["log"]).read_text() == "so far\n"


def _alive(group: int) -> list[str]:
    """The processes of a group that are more than a line in the system's table."""
    states = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in states.splitlines()]
    return [row[2] for row in rows if row[0] == str(group) and not row[1].startswith("Z")]


def test_too_late(tmp_path: Path) -> None:
    """After `timeout` seconds the program and its children are ended, and it is not asked again by itself."""
    script = (
        "import os, subprocess, time\n"
        "subprocess.Popen(['sleep', '60'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "time.sleep(60)\n"
    )
    began = time.monotonic()
    with pytest.raises(ProviderTimeoutError) as raised:
        asked(provider(tmp_path, script, timeout=1))
    assert time.monotonic() - began < 10
    assert not raised.value.retryable
    assert not _alive(int((tmp_path / "pid").read_text()))


def test_nobody_waits_any_more(tmp_path: Path) -> None:
    """A request that is cancelled leaves no process and no workspace."""
    script = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(f'{{os.getpid()}} {{os.getcwd()}}')"
    agent = provider(tmp_path, f"{script}\ntime.sleep(60)")

    async def cancelled() -> None:
        task = asyncio.ensure_future(agent.ask(request_of()))
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await agent.close()

    asyncio.run(asyncio.wait_for(cancelled(), 20))
    pid, folder = (tmp_path / "pid").read_text().split()
    assert not _alive(int(pid))
    assert not Path(folder).exists()


@pytest.mark.parametrize(
    ("keep", "failed", "kept"),
    [("never", True, False), ("failed", False, False), ("failed", True, True), ("always", False, True)],
)
def test_which_workspaces_are_kept(tmp_path: Path, keep: str, failed: bool, kept: bool) -> None:
    """`keep_workspaces` decides, once it is known how the case went; the record says where a kept one is."""
    agent = provider(tmp_path, "open('a.txt', 'w').write('x'); print('done')", keep_workspaces=keep)
    folder = None

    async def ask() -> dict[str, object]:
        nonlocal folder
        work = work_of((await agent.ask(request_of())).agent)
        folder = work.folder
        assert folder is not None
        assert (folder / "a.txt").exists()  # graders can look at it
        work.release(failed=failed)
        await agent.close()
        return work.record()

    record = asyncio.run(ask())
    assert folder is not None
    assert folder.exists() is kept
    assert record["workspace"] == (str(folder) if kept else None)
    if kept:
        subprocess.run(["rm", "-rf", str(folder.parent)], check=True)


def test_a_workspace_that_resists(tmp_path: Path) -> None:
    """Folders that nobody may write to, and links that lead out, are removed without harm to what they lead to."""
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file").write_text("x")
    mode = (tmp_path / "precious").stat().st_mode
    script = (
        "import os\nos.makedirs('a/b'); open('a/b/c', 'w').write('x')\n"
        f"os.symlink({str(tmp_path / 'precious')!r}, 'a/link')\n"
        "os.chmod('a/b', 0o500); os.chmod('a', 0o500); print(os.getcwd())\n"
    )
    [answer] = asked(provider(tmp_path, script))
    assert not Path(answer.text).exists()
    assert (tmp_path / "precious/file").read_text() == "x"
    assert (tmp_path / "precious").stat().st_mode == mode


def test_keys_are_not_in_logs(tmp_path: Path) -> None:
    """What an agent prints of its keys, and of secrets that it is passed, is not in what is kept."""
    known = {**os.environ, "MY_TOKEN": "tok-123456789", "THE_KEY": "sk-987654321"}
    script = "import os, sys; print(os.environ['MY_TOKEN'], os.environ['K']); print('sk-987654321', file=sys.stderr)"
    agent = provider(
        tmp_path, script, logs=tmp_path / "logs", environment=known, pass_env=["MY_TOKEN"], env={"K": "${{ THE_KEY }}"}
    )
    asked(agent)
    written = "".join(path.read_text() for path in (tmp_path / "logs").rglob("*") if path.is_file())
    assert "[redacted] [redacted]" in written
    assert "tok-123456789" not in written
    assert "sk-987654321" not in written


def test_the_version_is_asked_once(tmp_path: Path) -> None:
    """The version of the program is in what is known of its work, and is looked up once for all requests."""
    program = tmp_path / "agent"
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo x >> {tmp_path}/asked; echo agent 1.2.3; else echo hi; fi\n'
    )
    program.chmod(0o755)
    answers = asked(provider(tmp_path, "", executable="./agent"), request_of(), request_of())
    assert [work_of(each.agent).version for each in answers] == ["1.2.3", "1.2.3"]
    assert (tmp_path / "asked").read_text() == "x\n"
