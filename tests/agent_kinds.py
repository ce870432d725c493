"""Tasks and recorded streams for the tests of single agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from helpers import ROOT
from turnwise.programs.program import Ran
from turnwise.providers import ProviderRequest
from turnwise.providers.agents.kind import Task
from turnwise.targets.models import PROVIDERS

__all__ = ["KEY", "after", "any_events", "recorded", "stream", "task", "written"]

KEY = "sk-secret-0123456789"


def task(provider: str, prompt: str = "Do it.", **settings: Any) -> Task:
    """A task for an agent of that provider, with folders that need not be there."""
    target = PROVIDERS[provider].model_validate({"name": "a", "provider": provider, **settings})
    return Task(
        prompt=prompt,
        folder=Path("/w"),
        home=Path("/h"),
        scratch=Path("/s"),
        target=target,
        request=ProviderRequest(question=prompt),
    )


def recorded(agent: str, name: str) -> Ran:
    """What the real program wrote, as it was recorded."""
    return stream((ROOT / "tests" / "data" / "agents" / agent / f"{name}.jsonl").read_bytes())


def stream(output: bytes) -> Ran:
    """A program that wrote this, and ended well."""
    return Ran(output=output, complaint=b"", status=0)


def written(*events: object) -> Ran:
    """A program that wrote these as JSON lines."""
    return stream("".join(json.dumps(event) + "\n" for event in events).encode())


def after(command: tuple[str, ...], flag: str) -> str:
    """The word after a flag."""
    return command[command.index(flag) + 1]


def any_events(*shapes: dict[str, Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Events of the given shapes with any values in the place of theirs, and any other objects."""
    odd: st.SearchStrategy[Any] = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
    bent = st.one_of([_bent(shape, odd) for shape in shapes])
    return st.lists(bent | st.dictionaries(st.text(max_size=5), odd, max_size=4), max_size=6)


def _bent(shape: Any, odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """A value of the same shape, of which any part may be something else, but for the names of types."""
    if isinstance(shape, dict):
        parts = {key: st.just(part) if key in ("type", "role") else _bent(part, odd) for key, part in shape.items()}
        return st.one_of(st.fixed_dictionaries(parts), st.fixed_dictionaries({}, optional=parts))
    if isinstance(shape, list):
        return st.lists(st.one_of([_bent(part, odd) for part in shape]), max_size=3) | odd
    return st.just(shape) | odd
