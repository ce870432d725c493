"""Variants of a suite: what only one of them breaks, reads or asks counts as much as anything else."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import turnwise.engine.plan as plan_module
from run_fixtures import Carried, Server, hello, journal, mock, project, run, suite
from turnwise.errors import RunError, SuiteError
from turnwise.providers import ProviderRequest, ProviderResponse

BROKEN: dict[str, Any] = {
    "vars": {"pattern": "hel+o"},
    "graders": [{"regex": "{{ pattern }}"}, {"contains": "hello"}],
    "variants": {"fine": None, "broken": {"vars": {"pattern": "("}}},
}


def test_a_grader_that_a_variant_breaks_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    """The case is sound as it is written; asked as the variant wants it, it could not be graded."""
    root = project(tmp_path, s=suite(1, **BROKEN))
    with pytest.raises(SuiteError, match="regular expression"):
        run(root / "s.yaml")
    assert not (root / ".turnwise/runs").exists()
    assert run(root / "s.yaml", variants=["fine"]).passed


def test_a_grader_that_cannot_be_made_leaves_its_case_ungraded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the plan not to see it: the graders that are left do not decide alone."""
    monkeypatch.setattr(plan_module, "grader_diagnostics", lambda case: [])
    root = project(tmp_path, s=suite(1, **BROKEN))
    by_variant = {each["variant"]: each for each in journal(run(root / "s.yaml"))}
    assert (by_variant["fine"]["status"], by_variant["broken"]["status"]) == ("passed", "ungraded")
    assert by_variant["broken"]["score"] is None


def with_files(root: Path) -> Path:
    """A suite whose variants each read a file of their own."""
    for name in ("a", "b"):
        (root / f"{name}.txt").write_text(f"hello {name}")
    content = [{"type": "file", "value": "{{ doc }}"}]
    cases = [{"id": f"c{number}", "input_messages": [{"role": "user", "content": content}]} for number in range(2)]
    variants = {"first": None, "second": {"vars": {"doc": "b.txt"}}}
    return project(root, s=suite(cases, vars={"doc": "a.txt"}, variants=variants)) / "s.yaml"


@pytest.mark.parametrize("name", ["a.txt", "b.txt"])
def test_a_file_that_only_a_variant_uses_may_not_change(tmp_path: Path, name: str) -> None:
    """A run that is resumed must ask about the same files as before, whichever variant reads them."""
    outcome = run(with_files(tmp_path))
    assert run(resume=outcome.folder).left == 0
    (tmp_path / name).write_text("hello, but otherwise")
    with pytest.raises(RunError, match="something has changed") as caught:
        run(resume=outcome.folder)
    assert caught.value.details == (f"{name}: has changed",)


@pytest.mark.parametrize("variants", [{}, {"one": {"settings": {"timeout": 50}}, "two": {"settings": {"timeout": 60}}}])
def test_variants_share_the_requests_per_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variants: dict[str, Any]
) -> None:
    """Six a minute are six a minute: the server is the same one. Ten seconds lie between any two requests."""
    sent: list[float] = []

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        sent.append(asyncio.get_running_loop().time())
        return hello()

    Server(reply).install(monkeypatch)
    cases = 2 if variants else 4
    fields = {"variants": variants} if variants else {}
    project(tmp_path, mock(requests_per_minute=6), s=suite(cases, **fields))
    carried = Carried(tmp_path / "s.yaml", workers=8)
    assert [each["status"] for each in carried.records] == ["passed"] * 4
    gaps = [after - before for before, after in pairwise(sent)]
    assert gaps == pytest.approx([10.0] * 3, abs=0.01)
