"""One piece of work: whatever happens to it, there is one line, and the others are unharmed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from run_fixtures import Carried, Server, case, hello, journal, mock, project, run, suite
from shapes import PNG
from turnwise.errors import AuthenticationError, RunError
from turnwise.providers import ProviderRequest, ProviderResponse


def attached(case_id: str, file: str, kind: str = "file") -> dict[str, Any]:
    """A case whose message is a file."""
    return {"id": case_id, "input_messages": [{"role": "user", "content": ["See:", {"type": kind, "value": file}]}]}


def by_case(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {each["case_id"]: each for each in records}


def test_a_fault_of_ours_is_one_error_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that nobody expected ends one case, says where it was raised, and not the run."""
    Server(well).install(monkeypatch)
    project(tmp_path, s=suite(3))

    async def broken(self: Any, each: Any, *rest: Any, **named: Any) -> Any:
        if each.id == "c1":
            raise ZeroDivisionError("oops")
        return await real(self, each, *rest, **named)

    from turnwise.engine.grading import Grading

    real = Grading.grade
    monkeypatch.setattr(Grading, "grade", broken)
    found = by_case(Carried(tmp_path / "s.yaml").records)
    assert {name: each["status"] for name, each in found.items()} == {"c0": "passed", "c1": "error", "c2": "passed"}
    assert (found["c1"]["error"]["kind"], "oops" in found["c1"]["error"]["message"]) == ("application", True)


async def well(server: Server, request: ProviderRequest) -> ProviderResponse:
    return hello()


def test_an_error_of_the_provider_is_kept_with_its_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its class, its status, what can be done, and what was asked."""

    async def refuse(server: Server, request: ProviderRequest) -> ProviderResponse:
        raise AuthenticationError("wrong key", status=401, hint="set another")

    Server(refuse).install(monkeypatch)
    project(tmp_path)
    (record,) = Carried(tmp_path / "s.yaml").records
    assert record["error"] == {
        "kind": "authentication", "message": "wrong key", "status": 401, "retryable": False, "hint": "set another"
    }  # fmt: skip
    assert (record["raw_request"]["question"], record["attempts"]) == ("hello", 1)


def test_an_expected_answer_that_cannot_be_read_is_the_case_s_error(tmp_path: Path) -> None:
    """It cannot be graded by what is missing; nothing is guessed."""
    expected = [{"role": "assistant", "content": [{"type": "file", "value": "gone.txt"}]}]
    project(tmp_path, s=suite([case("a", expected_messages=expected), case("b")]))
    found = by_case(journal(run(tmp_path / "s.yaml")))
    assert (found["a"]["status"], found["a"]["error"]["kind"], found["b"]["status"]) == ("error", "case", "passed")


def test_a_file_that_changes_during_the_run_is_the_case_s_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run says what it asks about: a text is asked as it was planned, an image that is another is not asked."""

    async def changes(server: Server, request: ProviderRequest) -> ProviderResponse:
        (tmp_path / "note.txt").write_text("hello, changed")
        (tmp_path / "p.png").write_bytes(PNG + b"changed")
        return hello()

    Server(changes).install(monkeypatch)
    (tmp_path / "note.txt").write_text("hello")
    (tmp_path / "p.png").write_bytes(PNG)
    cases = [case("a"), attached("text", "note.txt"), attached("image", "p.png", "image")]
    # Under a variant, cases are made anew when they are asked.
    project(tmp_path, s=suite(cases, variants={"v": {"system_prompt": "Be it."}}))
    found = by_case(Carried(tmp_path / "s.yaml", workers=1).records)
    assert {name: each["status"] for name, each in found.items()} == {"a": "passed", "text": "passed", "image": "error"}
    assert "changed" not in found["text"]["raw_request"]["question"]
    assert "p.png has changed since the run was planned" in found["image"]["error"]["message"]


def test_files_of_one_name_in_two_projects_are_two(tmp_path: Path) -> None:
    """Each project has a `note.txt` of its own: neither is taken for the other, also when the run is resumed."""
    for name in ("one", "two"):
        root = project(tmp_path / name, mock(), s=suite([attached("a", "note.txt")]))
        (root / "note.txt").write_text(f"hello from {name}")
    outcome = run([tmp_path / "one" / "s.yaml", tmp_path / "two" / "s.yaml"])
    assert [each["status"] for each in journal(outcome)] == ["passed", "passed"]
    assert run(resume=outcome.folder).passed
    (tmp_path / "two" / "note.txt").write_text("hello again")
    with pytest.raises(RunError, match="something has changed"):
        run(resume=outcome.folder)


def test_trials_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider knows which repeat it is: a replay or a cache must not take one for the other."""
    seen: list[int] = []

    async def count(server: Server, request: ProviderRequest) -> ProviderResponse:
        seen.append(request.attempt)
        return hello()

    Server(count).install(monkeypatch)
    project(tmp_path, s=suite(1, trials=3))
    assert [each["trial"] for each in Carried(tmp_path / "s.yaml", workers=1).records] == seen == [1, 2, 3]


def test_a_target_s_system_prompt_is_sent_where_nothing_else_gives_one(tmp_path: Path) -> None:
    """A variant's goes before it, and the case as it is written has the target's."""
    project(tmp_path, mock(system_prompt="Of the target."), s=suite(1, variants={"v": {"system_prompt": "Of v."}}))
    records = journal(run(tmp_path / "s.yaml", as_written=True))
    sent = {each["variant"]: each["raw_request"]["messages"][0]["content"] for each in records}
    assert sent == {None: "Of the target.", "v": "Of v."}


def test_times_are_of_one_clock_that_never_goes_back(tmp_path: Path) -> None:
    """Moments are ISO 8601 in UTC, and a result ends after it began."""
    from datetime import UTC, datetime

    project(tmp_path, s=suite(3))
    before = datetime.now(UTC)
    for each in Carried(tmp_path / "s.yaml").records:
        began, ended = (datetime.fromisoformat(each[name]) for name in ("started_at", "finished_at"))
        assert before.replace(microsecond=0) <= began <= ended
        assert began.utcoffset() is not None
