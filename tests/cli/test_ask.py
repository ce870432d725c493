"""`turnwise ask`: one question as a user asks it, and every way in which the answer can come or fail to come."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fault_server import Fault, FaultServer, Received, answer
from helpers import run_turnwise

TARGETS = r"""
targets:
  - {name: fixed, provider: mock, response: The capital is Paris.}
  - {name: parrot, provider: mock, echo: true}
  - {name: silent, provider: mock, response: ""}
  - {name: hostile, provider: mock, response: "plain\e[31mred\e]0;title\a\u202Eback\nnext"}
  - {name: recorded, provider: replay, path: recording.jsonl, match_by: case}
  - {name: app, provider: python, function: "app:reply"}
  - {name: web, provider: http, url: "${{ SERVER }}/chat", body: {q: "{{ question }}"}, answer_pointer: /reply}
  - name: gpt
    provider: openai
    model: gpt-x
    base_url: ${{ SERVER }}/v1
    api_key: ${{ GPT_KEY }}
    system_prompt: You are terse.
    retry_initial_delay: 0.01
    prices: {input: 2, output: 10}
  - {name: claude, provider: anthropic, model: c, base_url: "${{ SERVER }}", api_key: "${{ GPT_KEY }}"}
"""
SUITE = """
cases:
  - id: refund
    system_prompt: You are a clerk.
    input_messages:
      - {role: user, content: I want my money back.}
      - {role: assistant, content: Why?}
      - {role: user, content: It broke.}
  - id: missing-file
    input_messages: [{role: user, content: [{type: file, value: nowhere.md}]}]
"""
APP = "def reply(request):\n    return 'You asked: ' + request.chat_prompt[-1]['content']\n"
KEY = "sk-ask-secret-42"
COMPLETION = {
    "model": "gpt-x-1",
    "choices": [{"message": {"role": "assistant", "content": "Paris."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 500},
}
QUESTION = "What is the capital of France?"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / "targets.yaml").write_text(TARGETS)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "recording.jsonl").write_text(json.dumps({"case_id": "refund", "answer": "Sorry!"}) + "\n")
    return tmp_path


def ask_server(
    project: Path, script: Sequence[Fault | bytes], *arguments: str, key: str = KEY
) -> tuple[subprocess.CompletedProcess[str], list[Received]]:
    """Run the command while a server answers by the script."""

    async def run() -> tuple[subprocess.CompletedProcess[str], list[Received]]:
        async with FaultServer(script) as server:
            url = server.url
            done = await asyncio.to_thread(run_turnwise, "ask", *arguments, cwd=project, SERVER=url, GPT_KEY=key)
            return done, server.received

    return asyncio.run(run())


def body_of(received: Received) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(received.body)
    return body


def test_the_answer_is_the_output(project: Path) -> None:
    """Standard output holds the answer and nothing else; figures are on standard error."""
    done = run_turnwise("ask", "fixed", QUESTION, cwd=project)
    assert (done.returncode, done.stdout) == (0, "The capital is Paris.\n")
    assert done.stderr.count("\n") == 1
    assert "tokens not counted" in done.stderr
    assert "cost" not in done.stderr


def test_a_dash_reads_standard_input(project: Path) -> None:
    """Text comes through a pipe as it is, in any language, without its last line break."""
    done = run_turnwise("ask", "parrot", "-", cwd=project, stdin="Grüße,\n 世界\n".encode())
    assert (done.returncode, done.stdout) == (0, "Grüße,\n 世界\n")


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_is_not_asked(project: Path, text: str) -> None:
    """An empty text, or an empty pipe, is a mistake of the call."""
    for done in (
        run_turnwise("ask", "parrot", text, cwd=project),
        run_turnwise("ask", "parrot", "-", cwd=project, stdin=text.encode()),
    ):
        assert (done.returncode, done.stdout) == (2, "")
        assert "nothing to ask" in done.stderr
        assert "hint:" in done.stderr


def test_a_case_is_asked_with_its_whole_conversation(project: Path) -> None:
    """`--case` sends what the suite says: all turns, and the case's own system text before the target's."""
    done, (request,) = ask_server(project, [answer(COMPLETION)], "gpt", "suite.yaml", "--case", "refund")
    assert (done.returncode, done.stdout) == (0, "Paris.\n"), done.stderr
    assert body_of(request)["messages"] == [
        {"role": "system", "content": "You are a clerk."},
        {"role": "user", "content": "I want my money back."},
        {"role": "assistant", "content": "Why?"},
        {"role": "user", "content": "It broke."},
    ]


def test_an_unknown_case_gets_a_suggestion(project: Path) -> None:
    """A misspelt id is named with the one that was probably meant."""
    done = run_turnwise("ask", "fixed", "suite.yaml", "--case", "refnud", cwd=project)
    assert done.returncode == 2
    assert "refnud" in done.stderr
    assert "`refund`" in done.stderr


def test_a_case_whose_files_are_missing_is_not_asked(project: Path) -> None:
    """The place in the suite is told, as `validate` would."""
    done = run_turnwise("ask", "fixed", "suite.yaml", "--case", "missing-file", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert "suite.yaml:10:" in done.stderr
    assert "nowhere.md" in done.stderr


def test_a_suite_that_is_not_there_is_told(project: Path) -> None:
    """Also where its folder does not exist; standard input is a text, never a suite."""
    done = run_turnwise("ask", "fixed", "no/such.yaml", "--case", "refund", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no/such.yaml: error: the file does not exist" in done.stderr
    done = run_turnwise("ask", "fixed", "-", "--case", "refund", cwd=project)
    assert (done.returncode, "--case goes with the file of a suite" in done.stderr) == (2, True)


def test_the_system_text_goes_before_the_targets(project: Path) -> None:
    """`--system`, else the target's system prompt; a case has its own, so both together are refused."""
    _, (own,) = ask_server(project, [answer(COMPLETION)], "gpt", QUESTION, "--system", "You are a poet.")
    _, (targets,) = ask_server(project, [answer(COMPLETION)], "gpt", QUESTION)
    assert [body_of(each)["messages"][0]["content"] for each in (own, targets)] == ["You are a poet.", "You are terse."]
    done = run_turnwise("ask", "fixed", "suite.yaml", "--case", "refund", "--system", "x", cwd=project)
    assert (done.returncode, "--system" in done.stderr) == (2, True)


def test_json_holds_everything(project: Path) -> None:
    """One object: the answer, how it ended, tokens, cost by the target's prices, times, and what was sent."""
    done, (request,) = ask_server(project, [answer(COMPLETION)], "gpt", QUESTION, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads(done.stdout)
    assert record["answer"] == "Paris."
    assert record["output_messages"] == [{"role": "assistant", "content": "Paris."}]
    assert (record["finish_reason"], record["raw_finish_reason"]) == ("stop", "stop")
    assert (record["model"], record["attempts"], record["rewrites"]) == ("gpt-x-1", 1, [])
    assert (record["usage"]["input_tokens"], record["usage"]["output_tokens"]) == (1000, 500)
    # 1,000 tokens at 2 dollars a million, and 500 at 10.
    assert record["cost_usd"] == pytest.approx(0.007)
    assert record["latency_ms"] > 0
    assert record["first_token_ms"] is None
    assert record["messages"] == body_of(request)["messages"]
    assert KEY not in done.stdout


def test_figures_tell_tokens_time_and_cost(project: Path) -> None:
    """One line for people, on standard error."""
    done, _ = ask_server(project, [answer(COMPLETION)], "gpt", QUESTION)
    (line,) = done.stderr.splitlines()
    assert line.startswith("gpt-x-1 · 1,000 tokens in, 500 out · ")
    assert line.endswith(" s · $0.007")


def test_a_stream_tells_the_first_token(project: Path) -> None:
    """`--stream` asks for one and tells when it began; a target that cannot stream says so."""
    deltas: list[dict[str, Any]] = [{"content": "Par"}, {"content": "is."}]
    chunks = [{"choices": [{"index": 0, "delta": each}]} for each in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    script = [answer(events.encode(), content_type="text/event-stream")]
    done, (request,) = ask_server(project, script, "gpt", QUESTION, "--stream")
    assert (done.returncode, done.stdout) == (0, "Paris.\n"), done.stderr
    assert body_of(request)["stream"] is True
    assert "(first token " in done.stderr
    done = run_turnwise("ask", "fixed", QUESTION, "--stream", cwd=project)
    assert (done.returncode, "does not stream" in done.stderr) == (2, True)


def test_recorded_answers_are_replayed(project: Path) -> None:
    """A replay answers a case that it knows; one that it does not know is no answer."""
    done = run_turnwise("ask", "recorded", "suite.yaml", "--case", "refund", cwd=project)
    assert (done.returncode, done.stdout) == (0, "Sorry!\n"), done.stderr
    done = run_turnwise("ask", "recorded", QUESTION, cwd=project)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error:" in done.stderr


def test_a_python_function_is_asked(project: Path) -> None:
    """The function's module is found from the project root; one that fails is told with its place."""
    done = run_turnwise("ask", "app", QUESTION, cwd=project)
    assert (done.returncode, done.stdout) == (0, f"You asked: {QUESTION}\n"), done.stderr
    (project / "app.py").write_text("def reply(request):\n    return 1 / 0\n")
    done = run_turnwise("ask", "app", QUESTION, cwd=project)
    assert (done.returncode, done.stdout) == (1, "")
    assert "ZeroDivisionError" in done.stderr
    assert "app.py" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_endpoint_is_asked(project: Path) -> None:
    """An application over HTTP gets the body of its target, and its answer is found by the pointer."""
    done, (request,) = ask_server(project, [answer({"reply": "Bonjour"})], "web", "Hello")
    assert (done.returncode, done.stdout) == (0, "Bonjour\n"), done.stderr
    assert (request.path, body_of(request)) == ("/chat", {"q": "Hello"})


def test_provider_and_model_need_no_file(tmp_path: Path) -> None:
    """Outside of any project, too."""
    done = run_turnwise("ask", "mock/Fine.", "How are you?", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "Fine.\n")


def test_every_missing_variable_is_named(project: Path) -> None:
    """All at once, with the places where they were looked for, before anything is sent."""
    done = run_turnwise("ask", "gpt", QUESTION, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert "SERVER" in done.stderr
    assert "GPT_KEY" in done.stderr
    assert ".env" in done.stderr


def test_a_variable_may_stand_in_the_projects_env_file(project: Path) -> None:
    """`.env` of the project counts."""

    async def run() -> subprocess.CompletedProcess[str]:
        async with FaultServer([answer(COMPLETION)]) as server:
            (project / ".env").write_text(f"SERVER={server.url}\nGPT_KEY={KEY}\n")
            return await asyncio.to_thread(run_turnwise, "ask", "gpt", QUESTION, cwd=project)

    done = asyncio.run(run())
    assert (done.returncode, done.stdout) == (0, "Paris.\n"), done.stderr


def test_a_wrong_key_is_told_once(project: Path) -> None:
    """Exit code 1, the name of the variable, what to do; the key itself is nowhere, even if the server repeats it."""
    refusal = answer({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401)
    done, requests = ask_server(project, [refusal], "gpt", QUESTION)
    assert (done.returncode, done.stdout, len(requests)) == (1, "", 1)
    assert requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "GPT_KEY was refused" in done.stderr
    assert "hint: check the value of GPT_KEY" in done.stderr
    assert KEY not in done.stderr


def test_retries_are_told(project: Path) -> None:
    """Each on a line of standard error: why, which one, how many there can be."""
    done, _ = ask_server(project, [answer({}, 503), answer({}, 503), answer(COMPLETION)], "gpt", QUESTION)
    assert (done.returncode, done.stdout) == (0, "Paris.\n")
    first, second, figures = done.stderr.splitlines()
    assert first.startswith("gpt: ")
    assert "status 503" in first
    assert "2 of 4" in first
    assert "3 of 4" in second
    assert "3 attempts" in figures


def test_rewrites_are_told(project: Path) -> None:
    """What the API's rules changed is a warning for each, with the rule."""
    reply = {"content": [{"type": "text", "text": "Oui."}], "stop_reason": "end_turn"}
    done, _ = ask_server(project, [answer(reply)], "claude", QUESTION, "--system", "Be brief.")
    assert (done.returncode, done.stdout) == (0, "Oui.\n"), done.stderr
    assert "warning: rewritten: message 1:" in done.stderr
    assert "(system-hoisted)" in done.stderr


def test_an_empty_answer_is_noted(project: Path) -> None:
    """An empty line could be taken for a mistake of ours."""
    done = run_turnwise("ask", "silent", QUESTION, cwd=project)
    assert (done.returncode, done.stdout) == (0, "\n")
    assert "warning: the answer is empty" in done.stderr


def test_an_answer_that_was_cut_off_is_noted(project: Path) -> None:
    """Half an answer looks like a whole one, so it is said."""
    choice = {"message": {"role": "assistant", "content": "Par"}, "finish_reason": "length"}
    done, _ = ask_server(project, [answer({"choices": [choice]})], "gpt", QUESTION)
    assert (done.returncode, done.stdout) == (0, "Par\n")
    assert "max_output_tokens" in done.stderr


def test_tool_calls_are_shown(project: Path) -> None:
    """A model that asks for a tool has answered: the call is the output."""
    call = {"id": "c1", "type": "function", "function": {"name": "find_order", "arguments": '{"id": 7}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    completion = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    done, _ = ask_server(project, [answer(completion)], "gpt", QUESTION)
    assert done.returncode == 0
    assert "find_order" in done.stdout
    assert "empty" not in done.stderr


def test_a_hostile_answer_cannot_reach_a_terminal(project: Path) -> None:
    """On a terminal, control characters are pictures; in a pipe, the answer is what the model said."""
    piped = run_turnwise("ask", "hostile", QUESTION, cwd=project)
    assert piped.stdout == "plain\x1b[31mred\x1b]0;title\a\u202eback\nnext\n"
    shown = on_a_terminal("ask", "hostile", QUESTION, cwd=project)
    assert "plain␛[31mred␛]0;title␇\\u202eback\r\nnext\r\n" in shown
    assert "\x1b[31m" not in shown
    assert "\x1b]" not in shown
    assert "\u202e" not in shown


def on_a_terminal(*arguments: str, cwd: Path) -> str:
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-m", "turnwise", *arguments]
        with subprocess.Popen(command, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            written = bytearray()
            while chunk := _read(ours):
                written += chunk
        assert process.returncode == 0
        return written.decode()
    finally:
        os.close(ours)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux's way to say that nobody has the other end any more
        return b""


def test_ctrl_c_ends_a_slow_request(project: Path) -> None:
    """One word, exit code 130, and the connection is closed."""
    # A shell that runs the tests in the background has its children ignore the signal; a terminal does not.
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import turnwise.__main__"
    start = f"{program}; turnwise.__main__.process()"

    async def run() -> tuple[int, str, str]:
        async with asyncio.timeout(20), FaultServer([Fault([], then="hang")]) as server:
            process = subprocess.Popen(
                [sys.executable, "-c", start, "ask", "gpt", QUESTION],
                cwd=project,
                env={**os.environ, "SERVER": server.url, "GPT_KEY": KEY},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            while not server.received:
                await asyncio.sleep(0.01)
            process.send_signal(signal.SIGINT)
            output, errors = await asyncio.to_thread(process.communicate, timeout=10)
            await server.gone.wait()
            return process.returncode, output.decode(), errors.decode()

    assert asyncio.run(run()) == (130, "", "interrupted\n")


def test_an_unknown_target_is_named_with_those_there_are(project: Path) -> None:
    """A misspelt name gets a suggestion, and nothing is sent."""
    done = run_turnwise("ask", "fixd", QUESTION, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert "`fixed`" in done.stderr


@pytest.mark.parametrize("name", ["suite.yaml", "missing.jsonl", "notes.txt"])
def test_the_name_of_a_file_is_not_asked(tmp_path: Path, name: str) -> None:
    """A suite without a case would be sent as its name: the error says what was meant."""
    (tmp_path / "suite.yaml").write_text("cases: []")
    (tmp_path / "notes.txt").write_text("Hello")
    done = run_turnwise("ask", "mock", name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "names a file, and is no text to ask" in done.stderr
    assert "--case" in done.stderr


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """Nothing is replaced in silence; line ends at the end of piped text are not part of it."""
    done = run_turnwise("ask", "mock", "-", cwd=tmp_path, stdin=b"caf\xe9")
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input is not UTF-8: byte 0xe9 at position 3" in done.stderr
    done = run_turnwise("ask", "mock", "-", cwd=tmp_path, stdin=b"a\r\nb\r\n")
    assert done.stdout == "a\r\nb\n"


def test_a_failure_is_data_for_programs(tmp_path: Path) -> None:
    """With `--format json` an error is JSON on standard output, beside the message on standard error."""
    (tmp_path / ".turnwise").mkdir()
    rule = "{fault: status, status: 403}"
    targets = f"targets: [{{name: t, provider: mock, max_retries: 0, script: [{rule}]}}]"
    (tmp_path / ".turnwise" / "targets.yaml").write_text(targets)
    done = run_turnwise("ask", "t", "Hi", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert (error["kind"], error["status"], error["retryable"]) == ("permission", 403, False)


def test_what_a_function_prints_is_not_the_answer(tmp_path: Path) -> None:
    """It goes to standard error: the JSON on standard output stays JSON."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "noisy.py").write_text(
        "print('imported')\ndef answer(request):\n    print('called')\n    return 'Hi'\n"
    )
    done = run_turnwise("ask", "python/noisy:answer", "Hello", "--format", "json", cwd=tmp_path)
    assert json.loads(done.stdout)["answer"] == "Hi"
    assert "imported" in done.stderr
    assert "called" in done.stderr
