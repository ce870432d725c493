"""A target with other settings: checked like any other, and refused in words that name who wanted them."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.errors import UsageError
from turnwise.targets.format import Target, TargetsSpec
from turnwise.targets.override import with_settings

WHERE = "the variant 'cold' of suite.yaml"


def target(**settings: Any) -> Target:
    return TargetsSpec.model_validate({"targets": [{"name": "mine", **settings}]}).targets[0]


GPT = {"provider": "openai", "model": "m", "api_key": "${{ KEY }}", "temperature": 1.0}


def refusal(settings: dict[str, Any], **spec: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        with_settings(target(**(spec or GPT)), settings, where=WHERE)
    assert caught.value.__cause__ is None
    return caught.value


def test_settings_replace_those_of_the_target() -> None:
    """What is not named stays, and the target itself is not changed."""
    spec = target(**GPT)
    changed = with_settings(spec, {"temperature": 0.0, "model": "other"}, where=WHERE)
    expected = {"name": "mine", **GPT, "temperature": 0.0, "model": "other"}
    assert changed.model_dump(exclude_unset=True) == expected
    assert spec.model_dump(exclude_unset=True) == {"name": "mine", **GPT}


def test_no_settings_are_the_target_itself() -> None:
    """Nothing is validated again."""
    spec = target(**GPT)
    assert with_settings(spec, {}, where=WHERE) is spec


def test_a_variable_may_stand_in_a_setting() -> None:
    """It is filled in with the others, when the target is used."""
    changed = with_settings(target(**GPT), {"temperature": "${{ T }}"}, where=WHERE)
    assert changed.model_dump()["temperature"] == "${{ T }}"
    assert "not closed" in str(refusal({"model": "${{ T"}))


@pytest.mark.parametrize("key", ["name", "provider"])
def test_what_makes_a_target_that_target_cannot_be_changed(key: str) -> None:
    """Another target is another target."""
    error = refusal({key: "anthropic"})
    assert f"`{key}` cannot be changed" in str(error)
    assert error.hint == "define another target in the targets file"


def test_an_unknown_setting_is_told_with_the_nearest() -> None:
    """The message names who wanted it, of which target; `name` is never suggested."""
    error = refusal({"temprature": 0})
    assert str(error) == f"{WHERE} cannot be used with the target 'mine': unknown setting `temprature`"
    assert error.hint == "did you mean `temperature`?"
    assert "name" not in (refusal({"nam": 1}).hint or "").split("`")


def test_a_value_that_does_not_fit_is_told() -> None:
    """What was found and what is expected, in the words of the targets file."""
    assert "`temperature` must be a number, found the text 'cold'" in str(refusal({"temperature": "cold"}))
    assert "`max_retries` must be greater than or equal to 0" in str(refusal({"max_retries": -1}))


def test_settings_that_do_not_go_together_are_refused() -> None:
    """The rules of the whole target hold for what comes out."""
    error = refusal({"echo": True}, provider="mock", response="Hi")
    assert "give `response` or `echo: true`, not both" in str(error)
    assert error.hint == "remove one of them"


def test_a_key_is_never_shown() -> None:
    """Neither the wrong one nor the one that the target has."""
    error = refusal({"api_key": ["sk-secret"], "headers": {"Authorization": 12345}})
    assert "sk-secret" not in f"{error} {error.hint}"
    assert "12345" not in f"{error} {error.hint}"
