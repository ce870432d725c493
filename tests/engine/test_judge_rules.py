"""Rules of judges: whom a grader asks, with what temperature, what a refusal is, and that targets wait for them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from fault_server import serving
from judge_fixtures import graded, judge_project, opinion
from live_fixtures import bodies
from run_fixtures import ECHO, Carried, hello, journal, mock, project, run, suite
from turnwise.errors import ContentFilterError
from turnwise.providers import MockProvider, ProviderRequest, ProviderResponse

JUDGE = {"type": "llm_judge", "target": "judge"}


def changed_target(root: Path, name: str, **settings: Any) -> None:
    """Give a target of the project further settings."""
    file = root / ".turnwise" / "targets.yaml"
    content = json.loads(file.read_text())
    for target in content["targets"]:
        target |= settings if target["name"] == name else {}
    file.write_text(json.dumps(content))


def test_what_a_filter_withholds_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge's provider would not judge: that is no fault of the API, and the grade says so."""

    async def ask(provider: Any, request: ProviderRequest) -> ProviderResponse:
        if provider._target.name == "judge":
            raise ContentFilterError("withheld", status=400)
        return hello()

    monkeypatch.setattr(MockProvider, "ask", ask)
    project(tmp_path, ECHO, mock("judge"), s=suite(1, graders=[JUDGE]))
    (record,) = journal(run(tmp_path / "s.yaml"))
    assert (record["status"], record["grades"][0]["error"]["kind"]) == ("ungraded", "refusal")


@pytest.mark.parametrize(("own", "sent"), [({"temperature": 0.7}, 0.7), ({}, 0.0)])
def test_a_target_s_own_temperature_comes_first(tmp_path: Path, own: dict[str, Any], sent: float) -> None:
    """A judge is asked with 0, unless its target says something else."""
    with serving(lambda _: opinion(1)) as server:
        suite_file = judge_project(tmp_path, server.url, JUDGE)
        changed_target(tmp_path, "judge", **own)
        run(suite_file)
        (body,) = bodies(server)
    assert body["temperature"] == sent


def test_the_suite_s_judge_comes_before_the_target_s(tmp_path: Path) -> None:
    """Where both name one, `judge` of the suite is asked, and `judge_target` of the target is not."""
    with serving(lambda _: opinion(1)) as chosen, serving(lambda _: opinion(0)) as usual:
        others = {"usual": usual.url}
        suite_file = judge_project(tmp_path, chosen.url, {"type": "llm_judge"}, others=others, judge="judge")
        changed_target(tmp_path, "echo", judge_target="usual")
        (line,) = journal(run(suite_file))
        assert (len(chosen.received), len(usual.received)) == (1, 0)
    assert line["score"] == 1.0


def test_half_of_the_judges_are_no_majority(tmp_path: Path) -> None:
    """More than half must pass the answer: of two judges that differ, neither has its way, and it fails."""
    grader = {"type": "llm_judge", "targets": ["judge", "second"], "combine": "majority"}
    with serving(lambda _: opinion(1)) as one, serving(lambda _: opinion(0)) as two:
        line = graded(tmp_path, one, grader, others={"second": two.url})
    assert (line["status"], line["score"]) == ("failed", 0.0)


def test_the_next_request_waits_for_the_judge_of_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge is slower than its target: without that, answers would pile up before it."""
    asked: list[str] = []

    async def ask(provider: Any, request: ProviderRequest) -> ProviderResponse:
        name = provider._target.name
        asked.append(f"{name} asked")
        await asyncio.sleep(5 if name == "judge" else 1)
        asked.append(f"{name} answered")
        text = '{"score": 1}' if name == "judge" else "hello"
        return ProviderResponse(text=text, messages=[{"role": "assistant", "content": text}], latency_ms=1000.0)

    monkeypatch.setattr(MockProvider, "ask", ask)
    project(tmp_path, ECHO, mock("judge"), s=suite(2, graders=[JUDGE]))
    carried = Carried(tmp_path / "s.yaml", workers=1)
    assert [each["status"] for each in carried.records] == ["passed", "passed"]
    assert asked == ["echo asked", "echo answered", "judge asked", "judge answered"] * 2
