"""The VS Code provider with a stub `code`: what is handed over, how, and what comes back."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import stub_code
from turnwise.conversation.values import File
from turnwise.errors import (
    ApplicationError,
    NotAwaitedError,
    ProtocolError,
    ProviderError,
    ProviderTimeoutError,
    SetupError,
)
from turnwise.providers import ProviderResponse
from turnwise.providers.agents.opening import open_agent
from turnwise.providers.agents.vscode import dispatching
from turnwise.providers.agents.vscode.claiming import claim_folder
from turnwise.providers.agents.vscode.command import CodeCommand
from turnwise.providers.agents.vscode.locks import take_lock
from turnwise.providers.agents.vscode.provider import VSCodeProvider
from vscode_stage import Stage, quick, request_of


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def failed(stage: Stage, **settings: object) -> ProviderError:
    """The error of a request; no folder stays locked after it."""
    with pytest.raises(ProviderError) as raised:
        stage.asked(**settings)
    assert_unlocked(stage.root)
    return raised.value


def assert_unlocked(root: Path) -> None:
    """Every folder can be locked."""
    for path in (*root.glob("locks/*.lock"), *root.glob("*.lock")):
        lock = take_lock(path)
        assert lock is not None, path
        lock.release()


def test_an_answer_is_what_the_agent_wrote(tmp_path: Path) -> None:
    """The answer file's text is the answer, as one message of the assistant; version and time are recorded."""
    (response,) = Stage(tmp_path).asked(request_of("what now?"))
    assert response.text == "WHAT NOW?\nagent-1"
    assert response.messages == [{"role": "assistant", "content": response.text}]
    assert response.agent is not None
    assert (response.agent.title, response.agent.version) == ("VS Code", "1.139.1")
    assert (response.latency_ms or 0) > 0


def test_a_request_is_one_chat_in_agent_mode(tmp_path: Path) -> None:
    """`code -r chat -m agent`, each file and then the request with `-a`, and a prompt that links the request."""
    stage = Stage(tmp_path)
    rule = File("docs/rule.md", "docs/rule.md", "Rule one\n", True)
    (response,) = stage.asked(request_of("hello", [rule]))
    (chat,) = stage.chats
    mirrored, request = stage.root / "agent-1" / "files" / "docs" / "rule.md", Path(chat[7])
    assert chat[:8] == ["-r", "chat", "-m", "agent", "-a", str(mirrored), "-a", str(request)]
    assert chat[8:] == [f"Follow the instructions in [{request.name}]({request.as_uri()})."]
    assert mirrored.read_text() == "Rule one\n"
    assert request.read_text() == response.sent[0]["content"]


def test_the_request_says_where_the_answer_goes(tmp_path: Path) -> None:
    """Two lines of their own name the unfinished and the final file, below the document that links the files."""
    stage = Stage(tmp_path)
    (response,) = stage.asked(request_of("hello", [File("a.md", "a.md", "A", True)]))
    text = response.sent[0]["content"]
    assert isinstance(text, str)
    stem = stage.chats[0][7].removesuffix("_req.md")
    assert f"\nWrite your whole answer to the file: {stem}_res.tmp.md\n" in text
    assert f"\nThen rename it to: {stem}_res.md\n" in text
    assert f"- [a.md]({(stage.root / 'agent-1/files/a.md').as_uri()})" in text


def test_odd_words_arrive_as_one_argument(tmp_path: Path) -> None:
    """No shell is between: spaces, quotes, brackets and line breaks in paths stay as they are."""
    stage = Stage(tmp_path / "a (b) [c] 'd' $e;f")
    name = 'odd "name" [1]\n(2) $HOME `x`.md'
    (response,) = stage.asked(request_of("quote \" and\n(bracket) 'x' $(rm)", [File(name, name, "x", False)]))
    (chat,) = stage.chats
    assert chat[5] == str(stage.root / "agent-1" / "files" / name)
    assert len(chat) == 9
    assert response.text == 'QUOTE " AND\n(BRACKET) \'X\' $(RM)'.join(
        [_preread(response), "\nagent-1"]
    )  # fmt: skip


def _preread(response: ProviderResponse) -> str:
    """What stands before the question, in capitals."""
    sent = str(response.sent[0]["content"]).upper()
    return sent[: sent.index("QUOTE")]


def test_system_messages_stay_where_they_stand(tmp_path: Path) -> None:
    """The question is handed over as it is: what it says about roles is not moved."""
    stage = Stage(tmp_path)
    question = "@[User]:\nhi\n\n@[System]:\nbe kind\n\n@[User]:\nbye"
    (response,) = stage.asked(request_of(question))
    assert str(response.sent[0]["content"]).startswith(question + "\n\n---\n")


def test_a_closed_window_is_woken_up_and_an_open_one_is_not(tmp_path: Path) -> None:
    """The first request opens the window and waits for a sign of life; the second finds it open."""
    stage = Stage(tmp_path, open_windows=0)
    stage.asked()
    stage.asked()
    words = ["wake" if "ready" in call[-1] else "chat" for call in stub_code.calls(stage.state) if "chat" in call]
    assert words == ["wake", "chat", "chat"]


def test_a_window_of_the_same_name_may_be_of_another_root(tmp_path: Path) -> None:
    """A folder whose agent was never awake is woken up, whatever `code --status` tells."""
    stage = Stage(tmp_path)
    stage.asked()
    stage.asked(agent_root=str(tmp_path / "other"))
    prompts = [call[-1] for call in stub_code.calls(stage.state) if "chat" in call]
    assert [prompt.startswith("Show that you are ready") for prompt in prompts] == [False, True, False]


def test_a_window_that_does_not_wake_up_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent to an agent that shows no sign of life; the hint says what to look at."""
    monkeypatch.setattr(dispatching, "WAKE_UP_SECONDS", 0.2)
    stage = Stage(tmp_path, does="asleep", open_windows=0)
    error = failed(stage)
    assert isinstance(error, SetupError)
    assert "did not wake up within 0.2 s" in str(error)
    assert "agent-1" in (error.hint or "")
    assert stage.chats == []


def test_what_the_agent_changed_is_told(tmp_path: Path) -> None:
    """Changes are those of its folder; requests, answers and locks are none."""
    stage = Stage(tmp_path, does="edit")
    (response,) = stage.asked(request_of("x", [File("note.md", "note.md", "before\n", False)]))
    assert response.agent is not None
    found = {each.path: each.kind for each in response.agent.changes.files}
    assert found == {"made.txt": "added", "files/note.md": "modified"}
    assert "-before\n+changed\n" in response.agent.changes.diff


def test_no_request_sees_the_files_of_another(tmp_path: Path) -> None:
    """A folder is emptied for each request: what an agent left in it is gone."""
    stage = Stage(tmp_path, does="edit")
    stage.asked(request_of("x", [File("note.md", "note.md", "secret\n", False)]))
    agent = stage.root / "agent-1"
    (agent / "deep").mkdir()
    (agent / "deep" / "link").symlink_to(tmp_path / "project")
    stage.environment["VSCODE_STUB_DOES"] = "answer"
    stage.asked(request_of("y"))
    assert [name for name in ("made.txt", "files", "deep") if (agent / name).exists()] == []
    assert len(list((agent / "messages").glob("*_req.md"))) == 1
    assert (tmp_path / "project").is_dir()


@pytest.mark.parametrize(
    ("does", "kind", "words"),
    [
        ("fail", ApplicationError, "`code chat` ended with exit code 3; the end of its stderr: code: the chat is not"),
        ("fail-open", ApplicationError, "`code WORKSPACE` ended with exit code 3"),
        ("empty", ProtocolError, "empty answer"),
        ("binary", ProtocolError, "is not UTF-8 text"),
        ("link", ProtocolError, "cannot be read"),
    ],
)
def test_no_answer_is_a_typed_error(tmp_path: Path, does: str, kind: type[ProviderError], words: str) -> None:
    """Whatever goes wrong has a class of its own and names what was found."""
    error = failed(Stage(tmp_path, does=does))
    assert type(error) is kind
    assert words in str(error)
    assert not error.retryable


@pytest.mark.parametrize(("does", "words"), [("never", "gave no answer within"), ("no-rename", "never renamed it")])
def test_an_answer_that_never_comes_is_a_timeout(tmp_path: Path, does: str, words: str) -> None:
    """The error says whether something was written; the agent's folder rests, as it may still be at work."""
    stage = Stage(tmp_path, does=does)
    error = failed(stage, timeout=1)
    assert type(error) is ProviderTimeoutError
    assert words in str(error)
    assert (error.agent or {})["agent"] == "VS Code"
    claim = claim_folder(stage.root)
    claim.release()
    assert claim.folder.name == "agent-2"


def test_a_folder_whose_late_answer_came_is_used_again(tmp_path: Path) -> None:
    """An agent that answered after all is not at work any more."""
    stage = Stage(tmp_path, does="no-rename")
    failed(stage, timeout=1)
    (unfinished,) = (stage.root / "agent-1" / "messages").glob("2*_res.tmp.md")
    unfinished.rename(unfinished.with_name(unfinished.name.replace(".tmp", "")))
    claim = claim_folder(stage.root)
    claim.release()
    assert claim.folder.name == "agent-1"


def test_a_command_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `code` that does not end is ended, and its request is an error."""
    monkeypatch.setattr("turnwise.providers.agents.vscode.command._SECONDS", 0.3)
    stage = Stage(tmp_path, does="hang")
    error = failed(stage)
    assert type(error) is ProviderTimeoutError
    assert "did not end within 0.3 s" in str(error)


def test_a_missing_command_says_how_to_get_it(tmp_path: Path) -> None:
    """Nothing is made where there is no `code`; the hint tells where VS Code installs it."""
    stage = Stage(tmp_path)
    stage.program.unlink()
    error = failed(stage)
    assert isinstance(error, SetupError)
    assert str(error) == "VS Code cannot be reached: there is no program 'code' on the PATH"
    assert "Install 'code' command in PATH" in (error.hint or "")


def test_a_command_can_be_named(tmp_path: Path) -> None:
    """`executable` is a path from the project, or a name on the PATH."""
    stage = Stage(tmp_path, program="my-code")
    (response,) = stage.asked(executable="../bin/my-code")
    assert response.text == "SAY IT\nagent-1"


def test_insiders_has_a_command_and_a_folder_of_its_own(tmp_path: Path) -> None:
    """`vscode-insiders` asks `code-insiders`, below `turnwise-agents/vscode-insiders` in HOME."""
    stage = Stage(tmp_path, program="code-insiders")
    (response,) = stage.asked(provider="vscode-insiders", agent_root=None)
    assert response.agent is not None
    assert response.agent.title == "VS Code Insiders"
    assert response.agent.folder == tmp_path / "home" / "turnwise-agents" / "vscode-insiders" / "agent-1"


def test_requests_at_once_have_folders_and_windows_of_their_own(tmp_path: Path) -> None:
    """Each chat goes to the window of its own folder, however many are handed over at once."""
    stage = Stage(tmp_path, seconds="0.3")
    responses = stage.asked(*(request_of(f"case {number}") for number in range(4)))
    for number, response in enumerate(responses):
        assert response.agent is not None
        assert response.agent.folder is not None
        assert response.text == f"CASE {number}\n{response.agent.folder.name}"
    assert len({response.text.splitlines()[-1] for response in responses}) == 4


def test_a_folder_is_held_until_its_case_is_graded(tmp_path: Path) -> None:
    """Graders may look at the folder; when they have, the next request gets it."""
    stage = Stage(tmp_path)

    async def run(provider: VSCodeProvider) -> list[str]:
        first = await provider.ask(request_of())
        second = await provider.ask(request_of())
        assert first.agent is not None
        first.agent.release(failed=False)
        third = await provider.ask(request_of())
        return [each.text.splitlines()[-1] for each in (first, second, third)]

    assert stage.with_provider(run) == ["agent-1", "agent-2", "agent-1"]
    assert_unlocked(stage.root)


@pytest.mark.parametrize("settings", [{}, {"batch": True}])
def test_a_cancelled_request_leaves_no_lock(tmp_path: Path, settings: dict[str, object]) -> None:
    """Cancelling in the middle frees the lock; the folder rests while the agent may be at work."""
    stage = Stage(tmp_path, does="never")

    async def run(provider: VSCodeProvider) -> None:
        asking = asyncio.ensure_future(provider.ask(request_of()))
        while not (stage.root / "agent-1" / "unanswered.json").exists():
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.sleep(0.1)
        assert_unlocked(stage.root)

    stage.with_provider(run, **settings)
    claim = claim_folder(stage.root)
    claim.release()
    assert claim.folder.name == "agent-2"


def test_a_dispatched_request_has_no_answer_to_grade(tmp_path: Path) -> None:
    """`wait: false`: the error says where the answer will be; it stays there, and later cases do not see it."""
    stage = Stage(tmp_path)
    error = failed(stage, wait=False)
    assert type(error) is NotAwaitedError
    assert (error.kind, error.retryable) == ("not_awaited", False)
    answer = Path(str(error).rpartition(" ")[2])
    for _ in range(500):
        if answer.exists():
            break
        asyncio.run(asyncio.sleep(0.01))
    assert answer.read_text() == "SAY IT\nagent-1"
    stage.asked()
    assert not answer.exists()
    assert (stage.root / "kept" / answer.parent.name / answer.name).read_text() == "SAY IT\nagent-1"


def test_a_dry_run_prepares_everything_and_calls_nothing(tmp_path: Path) -> None:
    """`dry_run: true`: the request and its workspace are there, and no `code` is needed."""
    stage = Stage(tmp_path)
    stage.program.unlink()
    error = failed(stage, dry_run=True)
    assert type(error) is NotAwaitedError
    (request,) = stage.root.glob("agent-1/kept/*/*_req.md")
    workspace = stage.root / "agent-1" / "agent-1.code-workspace"
    assert str(error) == f"dry run: nothing was sent; the request is {request}, its workspace {workspace}"
    assert json.loads(workspace.read_text()) == {"folders": [{"path": "."}]}
    assert stub_code.calls(stage.state) == []


def test_a_mode_can_be_a_file_of_the_project(tmp_path: Path) -> None:
    """A mode that ends in `.md` is put where VS Code looks for it; any other is VS Code's own."""
    stage = Stage(tmp_path)
    (stage.project / "terse.agent.md").write_text("Be terse.")
    stage.asked(mode="terse.agent.md")
    installed = stage.root / "agent-1/.github/agents/terse.agent.md"
    assert installed.read_text() == "Be terse."
    stage.asked(mode="Plan")
    assert [chat[3] for chat in stage.chats] == ["terse", "Plan"]
    assert not installed.exists()
    assert "no file" in str(failed(stage, mode="none.md"))


def test_the_command_sees_no_keys(tmp_path: Path) -> None:
    """Variables of the project that are keys do not reach VS Code."""
    stage = Stage(tmp_path)
    stage.environment["OPENAI_API_KEY"] = "sk-secret"
    command = CodeCommand(stage.provider()._target, stage.provider()._around)
    assert "sk-secret" not in command._environment.values()
    assert command._environment["VSCODE_STUB"] == str(stage.state)


@pytest.mark.parametrize("provider", ["vscode", "vscode-insiders"])
def test_both_providers_are_opened(tmp_path: Path, provider: str) -> None:
    """Targets of both kinds get this provider; a preview shows the document and makes nothing."""
    from turnwise.providers.agents.base import Surroundings
    from turnwise.targets.models import PROVIDERS
    from turnwise.targets.resolve import resolve_target

    target = PROVIDERS[provider].model_validate({"name": "x", "provider": provider})
    opened = open_agent(resolve_target(target, {}), Surroundings(tmp_path, {"HOME": str(tmp_path)}))
    assert isinstance(opened, VSCodeProvider)
    assert opened.preview(request_of("q")).messages == [{"role": "user", "content": "q"}]
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    """After `kill -9` the folder can be locked at once; it rests only while the agent may be at work in it."""
    stage = Stage(tmp_path, does="never")
    script = (
        "import asyncio, sys; from pathlib import Path; from vscode_stage import Stage, request_of\n"
        "stage = Stage.__new__(Stage); folder = Path(sys.argv[1])\n"
        "stage.project, stage.root = folder / 'project', folder / 'agents'\n"
        "import os; stage.environment = dict(os.environ)\n"
        "asyncio.run(stage.provider().ask(request_of()))\n"
    )
    environment = {**stage.environment, "PYTHONPATH": str(Path(stub_code.__file__).parent)}
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], env=environment)
    folder = stage.root / "agent-1"
    for _ in range(1000):
        if stage.chats or process.poll() is not None:
            break
        time.sleep(0.01)
    assert take_lock(stage.root / "locks" / "agent-1.lock") is None
    process.kill()
    process.wait()
    assert_unlocked(stage.root)
    (request,) = folder.glob("messages/*_req.md")
    claims = [claim_folder(stage.root)]
    request.with_name(request.name.replace("_req", "_res")).write_text("late")
    claims.append(claim_folder(stage.root))
    for claim in claims:
        claim.release()
    assert [claim.folder.name for claim in claims] == ["agent-2", "agent-1"]
