"""Answers are recorded line by line, and found again by request or by case."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pytest

from turnwise.errors import (
    ApplicationError,
    BadRequestError,
    NotFoundError,
    OverloadedError,
    ProtocolError,
    ProviderError,
    UsageError,
)
from turnwise.providers.base import Preview, Provider, ProviderRequest, ProviderResponse, Settings, Tool, Usage
from turnwise.providers.mock import MockProvider
from turnwise.providers.recording import Recorder, request_key
from turnwise.providers.replay import ReplayProvider
from turnwise.targets.stand_ins import MockTarget, ReplayTarget

HELLO = ProviderRequest(question="Hello", case_id="greeting")


class Prepared:
    """A provider that gives prepared responses, or raises prepared errors."""

    def __init__(self, *outcomes: ProviderResponse | ProviderError) -> None:
        self.outcomes = list(outcomes)
        self.closed = False

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, ProviderError):
            raise outcome
        return outcome

    def preview(self, request: ProviderRequest) -> Preview:
        return Preview(messages=[{"role": "user", "content": request.question}], rewrites=(), request=None)

    async def close(self) -> None:
        self.closed = True


def replay(
    path: Path, match_by: Literal["request", "case"] = "request", default_system_prompt: str | None = None
) -> ReplayProvider:
    target = ReplayTarget(name="r", provider="replay", path=path.name, match_by=match_by)
    return ReplayProvider(target, path.parent, default_system_prompt)


def ask(provider: Provider, request: ProviderRequest) -> ProviderResponse:
    return asyncio.run(provider.ask(request))


def fails(provider: Provider, request: ProviderRequest) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(provider, request)
    return caught.value


def record(path: Path, *pairs: tuple[ProviderRequest, str]) -> None:
    for request, text in pairs:
        ask(Recorder(MockProvider(MockTarget(name="m", provider="mock", response=text)), path), request)


def write(path: Path, lines: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def result(case_id: str, answer: str | None, trial: int = 1, **fields: Any) -> dict[str, Any]:
    """A line as runs write it."""
    asked = {"question": case_id, "messages": [{"role": "user", "content": f"about {case_id}"}]}
    return {"case_id": case_id, "trial": trial, "answer": answer, "raw_request": asked, "status": "ok", **fields}


def test_a_key_is_of_what_is_asked_alone() -> None:
    """The same question has the same key in any case and attempt, and with settings that say nothing."""
    key = request_key(HELLO, None)
    same = [
        replace(HELLO, case_id="other", attempt=3),
        replace(HELLO, metadata={"note": 1}),
        replace(HELLO, question="[User]: …", chat_prompt=[{"content": "Hello", "role": "user"}]),
    ]
    assert [request_key(each, None) for each in same] == [key] * 3


def test_a_key_tells_all_that_is_asked_apart() -> None:
    """Messages, the system prompt, each setting, tools and the output schema all make another key."""
    asked = [
        HELLO,
        replace(HELLO, question="Hallo"),
        replace(HELLO, settings=Settings(temperature=0)),
        replace(HELLO, settings=Settings(top_p=0)),
        replace(HELLO, settings=Settings(stop=("x",))),
        replace(HELLO, tools=[Tool("search")]),
        replace(HELLO, tools=[Tool("search", "Finds things")]),
        replace(HELLO, output_schema={"type": "object"}),
    ]
    keys = [request_key(each, None) for each in asked]
    assert len({*keys, request_key(HELLO, "Be kind.")}) == len(asked) + 1


def test_a_key_does_not_depend_on_how_a_value_is_written() -> None:
    """Order of keys, 1 or 1.0, and kinds of mappings make no difference; half a surrogate pair no error."""
    one = replace(HELLO, settings=Settings(temperature=1), output_schema={"a": 1, "b": 2}, question="\ud800")
    two = replace(one, settings=Settings(temperature=1.0), output_schema=MappingProxyType({"b": 2, "a": 1}))
    assert request_key(one, None) == request_key(two, None)


def test_a_recorded_answer_is_replayed_as_it_was(tmp_path: Path) -> None:
    """Text, messages, finish reason, usage and model come back, and what was sent is told."""
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    given = ProviderResponse(
        text="né\ud800",
        messages=[{"role": "assistant", "content": None, "tool_calls": [call]}],
        finish_reason="tool_calls",
        usage=Usage(input_tokens=3, output_tokens=5),
        model="m-1",
    )
    path = tmp_path / "new" / "answers.jsonl"
    inner = Prepared(given)
    recorder = Recorder(inner, path)
    assert ask(recorder, HELLO) is given
    assert recorder.preview(HELLO) == inner.preview(HELLO)
    asyncio.run(recorder.close())
    assert inner.closed
    answer = ask(replay(path), replace(HELLO, case_id="renamed"))
    assert answer.latency_ms is not None
    assert replace(answer, latency_ms=None) == replace(given, sent=[{"role": "user", "content": "Hello"}])


def test_a_record_has_the_documented_fields(tmp_path: Path) -> None:
    """A line is one JSON object that says what was asked, by which case, and what was answered."""
    path = tmp_path / "a.jsonl"
    record(path, (replace(HELLO, attempt=2), "Hi"))
    (line,) = path.read_text(encoding="utf-8").splitlines()
    written = json.loads(line)
    assert written.pop("usage").keys() == Usage.__dataclass_fields__.keys()
    assert written == {
        "schema_version": 1,
        "request": request_key(HELLO, None),
        "case_id": "greeting",
        "attempt": 2,
        "question": "Hello",
        "answer": "Hi",
        "output_messages": [{"role": "assistant", "content": "Hi"}],
        "finish_reason": "stop",
        "raw_finish_reason": None,
        "reasoning": None,
        "refusal": None,
        "model": None,
    }


def test_failures_are_not_recorded(tmp_path: Path) -> None:
    """An error passes through the recorder as it is and leaves nothing in the file."""
    path, error = tmp_path / "a.jsonl", OverloadedError("busy")
    assert fails(Recorder(Prepared(error), path), HELLO) is error
    assert not path.exists()


def test_recorders_can_share_a_file(tmp_path: Path) -> None:
    """Many answers at once, by two recorders, are as many whole lines."""
    path = tmp_path / "a.jsonl"
    echo = MockProvider(MockTarget(name="m", provider="mock", echo=True))

    async def record_all() -> None:
        recorders = [Recorder(echo, path), Recorder(echo, path)]
        asked = [ProviderRequest(question=f"{number} " + "x" * 9000) for number in range(40)]
        await asyncio.gather(*(recorders[index % 2].ask(each) for index, each in enumerate(asked)))

    asyncio.run(record_all())
    answers = [json.loads(line)["answer"] for line in path.read_text().splitlines()]
    assert sorted(int(answer.split()[0]) for answer in answers) == list(range(40))


def test_a_recording_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder, or a place below a file, is refused at once; a file that cannot grow is an error of the request."""
    with pytest.raises(UsageError, match="it is a folder"):
        Recorder(Prepared(), tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot record into"):
        Recorder(Prepared(), tmp_path / "file" / "a.jsonl")
    recorder = Recorder(Prepared(ProviderResponse(text="x")), tmp_path / "later")
    (tmp_path / "later").mkdir()
    error = fails(recorder, HELLO)
    assert isinstance(error, ApplicationError)
    assert str(tmp_path / "later") in str(error)


def test_an_answer_is_found_by_its_whole_request(tmp_path: Path) -> None:
    """Another setting, or another system prompt, is another request: its answer is not given."""
    path = tmp_path / "a.jsonl"
    record(path, (HELLO, "plain"), (replace(HELLO, settings=Settings(seed=1)), "seeded"))
    provider = replay(path)
    assert ask(provider, HELLO).text == "plain"
    assert ask(provider, replace(HELLO, settings=Settings(seed=1))).text == "seeded"
    assert isinstance(fails(provider, replace(HELLO, settings=Settings(seed=2))), NotFoundError)
    assert isinstance(fails(replay(path, default_system_prompt="Be kind."), HELLO), NotFoundError)


def test_cases_that_ask_the_same_get_their_own_answers(tmp_path: Path) -> None:
    """Of several answers to one request, that of the same case is given."""
    path = tmp_path / "a.jsonl"
    record(path, (HELLO, "to greeting"), (replace(HELLO, case_id="copy"), "to copy"))
    assert ask(replay(path), HELLO).text == "to greeting"
    assert ask(replay(path), replace(HELLO, case_id="copy")).text == "to copy"


@pytest.mark.parametrize("match_by", ["request", "case"])
def test_a_run_is_a_recording(tmp_path: Path, match_by: Literal["request", "case"]) -> None:
    """A run's folder answers by the messages that it sent, or by case."""
    run = tmp_path / "run"
    run.mkdir()
    write(run / "results.jsonl", [result("a", "A", usage={"input_tokens": 7}), result("b", "B", usage=None)])
    request = ProviderRequest(question="about a", case_id="a", settings=Settings(temperature=1))
    answer = ask(replay(run, match_by), request)
    assert (answer.text, answer.usage.input_tokens) == ("A", 7)
    assert answer.messages == [{"role": "assistant", "content": "A"}]


def test_each_attempt_has_its_answer(tmp_path: Path) -> None:
    """The answers of a case are taken in the order of their trials, whatever their order in the file."""
    lines = [result("a", "second", 2), result("b", "other"), result("a", "third", 3), result("a", "first", 1)]
    provider = replay(write(tmp_path / "a.jsonl", lines), "case")
    asked = [ProviderRequest(question="?", case_id="a", attempt=attempt) for attempt in (1, 2, 3)]
    assert [ask(provider, each).text for each in asked] == ["first", "second", "third"]


def test_lines_without_a_trial_are_counted(tmp_path: Path) -> None:
    """Where lines do not say which trial they are, the first is the first."""
    lines = [{"case_id": "a", "answer": "1"}, {"case_id": "a", "answer": "2"}]
    provider = replay(write(tmp_path / "a.jsonl", lines), "case")
    assert ask(provider, ProviderRequest(question="?", case_id="a", attempt=2)).text == "2"


def test_the_newest_answer_of_an_attempt_is_given(tmp_path: Path) -> None:
    """Recording again into the same file replaces what was there."""
    path = tmp_path / "a.jsonl"
    record(path, (HELLO, "old"), (HELLO, "new"))
    assert ask(replay(path), HELLO).text == "new"


def test_more_attempts_than_answers_is_an_error_that_counts_them(tmp_path: Path) -> None:
    """A third attempt of a case with two answers fails and says how many there are; failures do not count."""
    lines = [result("a", "1", 1), result("a", "2", 2), result("a", None, 3, status="error", error={"kind": "timeout"})]
    provider = replay(write(tmp_path / "a.jsonl", lines), "case")
    error = fails(provider, ProviderRequest(question="?", case_id="a", attempt=3))
    assert isinstance(error, NotFoundError)
    assert not error.retryable
    assert "attempt 3 of case 'a'" in str(error)
    assert "2 answers" in str(error)


def test_no_match_names_the_case_the_file_and_near_cases(tmp_path: Path) -> None:
    """An error for an unknown case says where it was looked for, among how many answers, and what is near."""
    path = write(tmp_path / "a.jsonl", [result("refund-1", "x"), result("weather", "y")])
    error = fails(replay(path, "case"), ProviderRequest(question="?", case_id="refnud-1"))
    assert isinstance(error, NotFoundError)
    assert not error.retryable
    assert "case 'refnud-1'" in str(error)
    assert f"{path}, which holds 2 answers" in str(error)
    assert error.hint == "near ids in it: refund-1"


@pytest.mark.parametrize(
    ("lines", "case_id", "hint"),
    [
        ([result("weather", "y")], "weather", "match_by: case"),
        ([result("weather", "y")], "zzz", "its cases are: weather"),
        ([{"case_id": "weather", "answer": "y"}], "weather", "no line tells what was asked"),
    ],
)
def test_no_match_says_what_to_do(tmp_path: Path, lines: list[Any], case_id: str, hint: str) -> None:
    """The hint tells a changed request from an unknown case and from a file without requests."""
    error = fails(replay(write(tmp_path / "a.jsonl", lines)), ProviderRequest(question="?", case_id=case_id))
    assert hint in str(error.hint)


def test_without_a_case_there_is_nothing_to_match_by(tmp_path: Path) -> None:
    """A request of no case cannot be looked up by case."""
    path = write(tmp_path / "a.jsonl", [result("a", "x")])
    assert isinstance(fails(replay(path, "case"), ProviderRequest(question="?")), BadRequestError)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{not json}", "not JSON"),
        (b'{"case_id": "b", "answer": "cut o', "not JSON"),
        (b"\xff\xfe\xff", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"case_id": "b", "answer": 3}', "`answer` must be a text"),
        (b'{"case_id": "b", "answer": "x", "output_messages": ["x"]}', "`output_messages` must be"),
        (b'{"schema_version": 2, "request": "ab", "case_id": "b", "answer": "x"}', "`schema_version` is 2"),
    ],
)
def test_a_malformed_line_is_an_error_with_its_place(tmp_path: Path, line: bytes, words: str) -> None:
    """The error names the file and the line; it is the same for every request, and each has its own."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(result("a", "x")).encode() + b"\n\n" + line + b"\n")
    provider = replay(path, "case")
    first, second = (fails(provider, ProviderRequest(question="?", case_id="a")) for _ in range(2))
    assert isinstance(first, ProtocolError)
    assert not first.retryable
    assert str(first).startswith(f"{path}:3: ")
    assert words in str(first)
    assert (str(second), second.hint, second is first) == (str(first), first.hint, False)


def test_a_recording_that_is_not_there(tmp_path: Path) -> None:
    """A missing file and a folder without results are errors that name the path."""
    missing, empty = fails(replay(tmp_path / "none.jsonl"), HELLO), fails(replay(tmp_path), HELLO)
    assert isinstance(missing, NotFoundError)
    assert str(tmp_path / "none.jsonl") in str(missing)
    assert "holds no results.jsonl" in str(empty)


def test_a_recording_that_changes_while_it_is_used(tmp_path: Path) -> None:
    """A file that is no longer what was indexed is an error, not another case's answer in pieces."""
    path = write(tmp_path / "a.jsonl", [result("a", "x"), result("b", "y")])
    provider = replay(path, "case")
    ask(provider, ProviderRequest(question="?", case_id="b"))
    path.write_text("{}")
    assert "has changed" in str(fails(provider, ProviderRequest(question="?", case_id="b")))


def test_concurrent_requests_read_the_recording_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that come together share one reading of the file."""
    from turnwise.providers import replay as module

    readings: list[Path] = []
    real = module._index_of

    def counted(file: Path, by_case: bool) -> Any:
        readings.append(file)
        return real(file, by_case)

    monkeypatch.setattr(module, "_index_of", counted)
    provider = replay(write(tmp_path / "a.jsonl", [result(str(number), str(number)) for number in range(20)]), "case")

    async def ask_all() -> list[str]:
        asked = [provider.ask(ProviderRequest(question="?", case_id=str(number))) for number in range(20)]
        return [answer.text for answer in await asyncio.gather(*asked)]

    assert asyncio.run(ask_all()) == [str(number) for number in range(20)]
    assert len(readings) == 1


def test_a_preview_reads_nothing(tmp_path: Path) -> None:
    """What would be looked up can be shown without a recording."""
    preview = replay(tmp_path / "none.jsonl", default_system_prompt="Be kind.").preview(HELLO)
    assert [message["role"] for message in preview.messages] == ["system", "user"]
    assert preview.request is None
