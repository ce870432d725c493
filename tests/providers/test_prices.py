"""List prices: the right model's or none, and never before a target's own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import date
from importlib.resources import files
from typing import Any

import pytest

from turnwise.providers.prices import UNPAID, is_paid, price_date, price_of, prices_of
from turnwise.targets.format import Target, TargetsSpec
from turnwise.targets.models import PROVIDERS
from turnwise.targets.settings import Prices

TABLE: dict[str, Any] = json.loads((files("turnwise.providers") / "prices.json").read_text(encoding="utf-8"))
MODELS = [
    (vendor, name, figures)
    for vendor, models in TABLE["usd_per_million_tokens"].items()
    for name, figures in models.items()
]


def target(**settings: Any) -> Target:
    return TargetsSpec.model_validate({"targets": [{"name": "t", **settings}]}).targets[0]


@pytest.mark.parametrize(("vendor", "name", "figures"), MODELS)
def test_every_entry_is_a_plausible_price(vendor: str, name: str, figures: dict[str, float] | None) -> None:
    """It can be read, answers cost more than questions, and cached tokens less than others."""
    known = price_of(vendor, name)
    if figures is None:
        assert known is None
        return
    assert known is not None
    assert known.prices == Prices.model_validate(figures)
    assert 0 < figures.get("cached_input", figures["input"]) <= figures["input"] < figures["output"] < 1000
    assert figures["input"] <= figures.get("cache_write", figures["input"])


def test_the_table_is_dated() -> None:
    """Each vendor's prices have the day at which they were stated, and a note says what they are."""
    assert TABLE["as_of"].keys() == TABLE["usd_per_million_tokens"].keys()
    assert all(date(2026, 1, 1) < date.fromisoformat(day) <= date.today() for day in TABLE["as_of"].values())
    assert "standard tier" in TABLE["note"]


@pytest.mark.parametrize(
    ("provider", "model", "name"),
    [
        ("openai", "gpt-4o", "gpt-4o"),
        ("openai", "gpt-4o-2024-08-06", "gpt-4o"),
        ("openai", "gpt-4o-mini", "gpt-4o-mini"),
        ("openai", "gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai-responses", "gpt-4.1", "gpt-4.1"),
        ("anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("anthropic", "claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("gemini", "gemini-2.5-flash-001", "gemini-2.5-flash"),
        ("gemini", "models/gemini-2.5-pro", "gemini-2.5-pro"),
    ],
)
def test_a_model_is_known_by_its_name_or_a_version_of_it(provider: str, model: str, name: str) -> None:
    """A date, a number of three digits or `latest` behind the name changes no price."""
    known = price_of(provider, model)
    assert known is not None
    assert known.name == name


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4o-audio-preview"),
        ("openai", "gpt-4"),
        ("openai", "gpt-4o-2024-05-13"),
        ("openai", "gpt-4o-2024-08-06-mine"),
        ("openai", "gpt-4o-mini-2024"),
        ("openai", "ft:gpt-4o"),
        ("openai", "GPT-4o"),
        ("openai", "models/gpt-4o"),
        ("openai", "-latest"),
        ("openai", ""),
        ("openai", None),
        ("anthropic", "claude-sonnet-4-9"),
        ("anthropic", "claude-opus"),
        ("anthropic", "gpt-4o"),
        ("azure", "gpt-4o"),
        ("openrouter", "openai/gpt-4o"),
        ("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("none-such", "gpt-4o"),
    ],
)
def test_what_only_resembles_a_model_has_no_price(provider: str, model: str | None) -> None:
    """A longer or shorter name is another model; deployments and other clouds have prices of their own."""
    assert price_of(provider, model) is None


def test_the_targets_own_prices_win() -> None:
    """Whoever has a contract knows better than the list."""
    own = target(provider="openai", model="gpt-4o", prices={"input": 1, "output": 2})
    assert prices_of(own) == (Prices(input=1.0, output=2.0), "target")
    assert price_date(own) is None


def test_the_table_fills_in() -> None:
    """Without prices of its own, a model of the vendor has the list's, and their date."""
    listed = target(provider="openai", model="gpt-4.1")
    prices, source = prices_of(listed)
    assert source == "table"
    assert prices == Prices.model_validate(TABLE["usd_per_million_tokens"]["openai"]["gpt-4.1"])
    assert price_date(listed) == TABLE["as_of"]["openai"]


@pytest.mark.parametrize(
    ("address", "listed"),
    [
        ("https://api.openai.com/v1", True),
        ("https://API.openai.com/v1/", True),
        ("http://127.0.0.1:8000/v1", False),
        ("https://gateway.example.org/v1", False),
        ("https://openrouter.ai/api/v1", False),
    ],
)
def test_list_prices_hold_at_the_vendor_only(address: str, listed: bool) -> None:
    """What a gateway or a server of one's own charges for a model of that name, nobody knows."""
    there = target(provider="openai", model="gpt-4o", base_url=address)
    assert (prices_of(there)[0] is not None) == listed
    assert (price_date(there) is not None) == listed


def test_what_has_no_price_has_no_source() -> None:
    """Nothing is made up for a model that the list does not have, nor for what has no model."""
    assert prices_of(target(provider="openai", model="my-model")) == (None, None)
    assert prices_of(target(provider="python", function="a:b")) == (None, None)


def test_who_is_paid() -> None:
    """What runs on a machine of your own is free, unless the target says what it costs; agents and APIs are not."""
    assert set(PROVIDERS) > UNPAID
    assert not is_paid(target(provider="mock", echo=True))
    assert is_paid(target(provider="mock", echo=True, prices={"input": 1, "output": 1}))
    assert is_paid(target(provider="openai", model="my-model"))
    assert is_paid(target(provider="codex"))


def test_reading_prices_imports_nothing_heavy() -> None:
    """The table is read when it is needed, and needs no network library."""
    program = (
        "import sys, turnwise.providers.prices as p\nprint('pydantic' in sys.modules, p._table.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"False 0\n", done.stdout)
