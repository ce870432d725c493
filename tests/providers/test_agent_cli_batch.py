"""The batch form of `cli`: one process for many requests, matched by id, and no case hurt by another's answer."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agent_scripts import answers, cli, failure, gone, outcomes, request, script
from helpers import run_turnwise
from turnwise.conversation.values import File
from turnwise.errors import ApplicationError, ProtocolError, ProviderError, ProviderTimeoutError, SetupError
from turnwise.providers import Provider, ProviderResponse
from turnwise.providers.agents.cli_lines import read_lines

READ = "import json,os,sys,time\ngiven = [json.loads(line) for line in sys.stdin]\n"


def batch(root: Path, code: str, **settings: Any) -> Provider:
    """A batch target: `given` are the requests, `say` prints an answer."""
    say = "def say(**line): print(json.dumps(line), flush=True)\n"
    return cli(root, script(READ + say + code), batch=True, **settings)


def kinds(found: list[ProviderResponse | ProviderError]) -> list[str]:
    return [each.text if isinstance(each, ProviderResponse) else each.kind for each in found]


def test_requests_that_come_together_go_to_one_process(tmp_path: Path) -> None:
    """Answers come in any order, and each finds its request."""
    code = "for each in reversed(given): say(id=each['id'], answer=f\"{each['case_id']} of {len(given)}\")"
    assert answers(batch(tmp_path, code), *"abcd") == ["a of 4", "b of 4", "c of 4", "d of 4"]


def test_no_more_than_workers_go_to_one_process(tmp_path: Path) -> None:
    """`workers` bounds a batch; those that come later have a process of their own."""
    code = "for each in given: say(id=each['id'], answer=str(len(given)))"
    assert sorted(answers(batch(tmp_path, code, workers=2), *"abcde")) == ["1", "2", "2", "2", "2"]
    assert answers(batch(tmp_path, code), *"ab", together=False) == ["1", "1"]


def test_a_hundred_requests_go_to_one_process(tmp_path: Path) -> None:
    """Many are no more than a longer input."""
    code = "for each in given: say(id=each['id'], answer=each['case_id'])"
    names = [f"case {number}" for number in range(100)]
    assert answers(batch(tmp_path, code), *names) == names


def test_a_line_holds_all_of_a_request(tmp_path: Path) -> None:
    """Id, case, attempt, the document, the question, and paths in a workspace of the case's own."""
    code = "for each in given: say(id=each['id'], answer=json.dumps(each))"
    tone = File("tone.md", "tone.md", "Be kind.", guideline=True)
    data = File("data.csv", "data.csv", "1")
    found = answers(batch(tmp_path, code), request("a", "Why?", [tone, data]), request("b", "Who?"))
    first, second = map(json.loads, found)
    assert set(first) == {"id", "case_id", "attempt", "prompt", "question", "files", "guidelines", "workspace"}
    assert (first["case_id"], first["attempt"], first["question"]) == ("a", 1, "Why?")
    assert first["prompt"].endswith("Why?")
    assert first["files"] == [f"{first['workspace']}/tone.md", f"{first['workspace']}/data.csv"]
    assert first["guidelines"] == [f"{first['workspace']}/tone.md"]
    assert first["workspace"] != second["workspace"]
    assert second["prompt"] == second["question"] == "Who?"


def test_the_same_case_twice_has_two_ids(tmp_path: Path) -> None:
    """Ids are unique in a batch, whatever cases are called."""
    code = "for each in given: say(id=each['id'], answer=each['id'])"
    assert answers(batch(tmp_path, code), "a", "a", "a#1") == ["a#1", "a#1#2", "a#1#1"]


def test_messages_and_usage_come_back(tmp_path: Path) -> None:
    """Tool calls are in our form; the last words of the assistant are the answer. No time of one case is known."""
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    said = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "found"},
        {"role": "assistant", "content": "It is there."},
    ]
    code = f"say(id=given[0]['id'], messages={said!r}, usage=dict(input_tokens=7, output_tokens=-1), cost_usd=0.5)"
    (found,) = outcomes(batch(tmp_path, code))
    assert isinstance(found, ProviderResponse)
    assert (found.text, list(found.messages)) == ("It is there.", said)
    assert (found.usage.input_tokens, found.usage.output_tokens, found.cost_usd) == (7, None, 0.5)
    assert found.latency_ms is None


def test_what_one_case_changed_is_its_own(tmp_path: Path) -> None:
    """Each has the diff of its own workspace."""
    code = (
        "for each in given:\n    open(each['workspace'] + '/' + each['case_id'], 'w').write('x')\n"
        "    say(id=each['id'], answer='done')"
    )
    found = outcomes(batch(tmp_path, code), "a", "b")
    changed = [
        [change.path for change in each.agent.changes.files]
        for each in found
        if isinstance(each, ProviderResponse) and each.agent is not None
    ]
    assert changed == [["a"], ["b"]]


def test_a_missing_answer_is_an_error_of_its_case_only(tmp_path: Path) -> None:
    """The others keep theirs."""
    code = "for each in given[:2]: say(id=each['id'], answer='ok')"
    found = outcomes(batch(tmp_path, code), *"abc")
    assert kinds(found) == ["ok", "ok", "application"]
    assert "no answer for the id 'c#1'" in str(found[2])


def test_two_answers_for_one_id_are_an_error_of_its_case_only(tmp_path: Path) -> None:
    """Nobody can say which of them counts."""
    code = "for each in [*given, given[0]]: say(id=each['id'], answer='ok')"
    found = outcomes(batch(tmp_path, code), *"ab")
    assert kinds(found) == ["protocol", "ok"]
    assert "more than one answer for the id 'a#1'" in str(found[0])


def test_an_id_that_nobody_asked_for_is_noted_in_the_log(tmp_path: Path) -> None:
    """It hurts no case."""
    code = "say(id='other', answer='?'); say(id=given[0]['id'], answer='ok')"
    assert answers(batch(tmp_path, code, logs=tmp_path / "logs")) == ["ok"]
    assert "'other'" in (tmp_path / "logs" / "mine" / "a@1.stderr.txt").read_text()


def test_an_error_of_one_case_is_an_error_of_that_case(tmp_path: Path) -> None:
    """In the program's own words."""
    code = "say(id=given[0]['id'], error='the model is asleep'); say(id=given[1]['id'], answer='ok')"
    found = outcomes(batch(tmp_path, code), *"ab")
    assert kinds(found) == ["application", "ok"]
    assert "the model is asleep" in str(found[0])


@pytest.mark.parametrize("junk", ["print('thinking…')", "print('[1]')", "print('{}')", "print('{\"id\": 5}')"])
def test_a_line_of_junk_is_an_error_for_all_without_an_answer(tmp_path: Path, junk: str) -> None:
    """It may have been an answer. Those that came whole are kept."""
    found = outcomes(batch(tmp_path, f"say(id=given[0]['id'], answer='ok'); {junk}"), *"abc")
    assert kinds(found) == ["ok", "protocol", "protocol"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ({"answer": ""}, "protocol"),
        ({"answer": 5}, "protocol"),
        ({}, "protocol"),
        ({"messages": "hello"}, "protocol"),
        ({"messages": [{"role": "wizard", "content": "x"}]}, "protocol"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "protocol"),
        ({"messages": [{"role": "assistant", "content": "x", "tool_calls": [5]}]}, "protocol"),
        ({"error": ""}, "application"),
        ({"error": {"code": 7}}, "application"),
    ],
)
def test_a_line_that_holds_no_answer_is_an_error(line: dict[str, Any], kind: str, tmp_path: Path) -> None:
    """Whatever stands in the place of an answer: never an empty one."""
    assert kinds(outcomes(batch(tmp_path, f"say(id=given[0]['id'], **{line!r})"))) == [kind]


def test_a_crash_keeps_what_was_answered(tmp_path: Path) -> None:
    """The rest fails with how it ended, and the end of its stderr."""
    code = "say(id=given[0]['id'], answer='ok'); print('out of memory', file=sys.stderr); os.kill(os.getpid(), 9)"
    found = outcomes(batch(tmp_path, code), *"ab")
    assert kinds(found) == ["ok", "application"]
    assert "SIGKILL" in str(found[1])
    assert "out of memory" in str(found[1])


def test_half_a_line_is_no_answer(tmp_path: Path) -> None:
    """A process that dies in the middle of a line has not given that answer."""
    code = "say(id=given[0]['id'], answer='ok'); sys.stdout.write('{\"id\": \"b#1\", \"ans'); sys.stdout.flush()"
    assert kinds(outcomes(batch(tmp_path, code), *"ab")) == ["ok", "protocol"]


def test_a_batch_that_hangs_is_ended_and_keeps_what_it_has(tmp_path: Path) -> None:
    """`timeout` is for the whole process, which is gone afterwards."""
    code = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); say(id='a#1', answer='ok'); time.sleep(60)"
    found = outcomes(batch(tmp_path, code, timeout=1), *"ab")
    assert kinds(found) == ["ok", "timeout"]
    assert isinstance(found[1], ProviderTimeoutError)
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_batch_that_reads_nothing_is_an_error_for_all(tmp_path: Path) -> None:
    """A program that ends at once leaves every case without an answer, and each has an error of its own."""
    found = outcomes(cli(tmp_path, script("pass"), batch=True), *"abc")
    assert kinds(found) == ["application"] * 3
    assert len({id(each) for each in found}) == 3


def test_a_missing_program_is_told_to_all(tmp_path: Path) -> None:
    """What keeps a batch from starting is an error of each of its requests."""
    assert all(isinstance(each, SetupError) for each in outcomes(cli(tmp_path, ["no-such-7"], batch=True), *"ab"))


def test_a_batch_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    """When all of its requests are cancelled, so is the process; while one is left, it goes on."""
    code = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"

    async def ask() -> int:
        provider = batch(tmp_path, code)
        asked = [asyncio.ensure_future(provider.ask(request(name))) for name in "ab"]
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            await asyncio.sleep(0.02)
        number = int((tmp_path / "pid").read_text())
        asked[0].cancel()
        await asyncio.sleep(0.05)
        assert not gone(number, 0.05)
        asked[1].cancel()
        await asyncio.wait(asked)
        await provider.close()
        return number

    assert gone(asyncio.run(ask()), 0.1)


def test_setup_and_teardown_are_each_cases_own(tmp_path: Path) -> None:
    """They run in its workspace, before and after the process."""
    code = "for each in given: say(id=each['id'], answer=open(each['workspace'] + '/ready').read())"
    provider = batch(tmp_path, code, setup="sh -c 'echo yes > ready'", teardown="test -f ready")
    assert answers(provider, "a", "b") == ["yes", "yes"]


def test_a_run_gives_all_cases_to_one_process(tmp_path: Path) -> None:
    """A batch takes more requests at once than other agents do, without being told."""
    code = READ + "for each in given: print(json.dumps(dict(id=each['id'], answer=f'{len(given)} at once')))"
    target = {"name": "mine", "provider": "cli", "command": script(code), "batch": True}
    cases = [{"id": f"c{n}", "input_messages": [{"role": "user", "content": "Hello"}]} for n in range(30)]
    suite = {"target": "mine", "graders": [{"contains": "30 at once"}], "cases": cases}
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / "targets.yaml").write_text(json.dumps({"targets": [target]}))
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    done = run_turnwise("run", "suite.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSED: 30 of 30" in done.stdout


def test_hostile_lines_are_read_without_harm() -> None:
    """Deep nesting, huge numbers, other encodings and repeated keys raise nothing."""
    lines = [
        b"[" * 50_000,
        b'{"id": "a", "answer": 1e999}',
        b"\xff\xfe{}",
        b'{"id": "b", "usage": {"input_tokens": "x"}}',
    ]
    found = read_lines(b"\n".join(lines), {"a", "b"})
    assert found.junk is not None
    assert {name: each.text for name, each in found.answers.items()} == {"a": None, "b": None}


def test_application_errors_of_a_batch_are_not_tried_again(tmp_path: Path) -> None:
    """The same input gives the same."""
    error = failure(batch(tmp_path, "say(id=given[0]['id'], error='429 rate limit')"))
    assert isinstance(error, ApplicationError)
    assert not isinstance(error, ProtocolError)
    assert error.retryable is False


def test_each_case_has_an_error_of_its_own(tmp_path: Path) -> None:
    """What is known of one case is written into its error, and must not be in another's."""
    found = outcomes(cli(tmp_path, ["no-such-program-anywhere"], batch=True), "a", "b")
    assert all(isinstance(each, SetupError) for each in found)
    assert found[0] is not found[1]
