"""Secrets are taken out of what agents write before any of it is cut, whatever it is that is shown of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_fixtures import provider
from agent_scripts import cli, failure, outcomes, script
from turnwise.errors import ProviderError
from turnwise.providers.agents.hiding import Hidden
from turnwise.providers.pointer import PointerError, resolve_pointer
from turnwise.targets.agents import CodexTarget
from turnwise.targets.resolve import resolve_target

KEY = "Zq7-hJ2kPw9xVb4mNc8tRd1sLf6gYa3eUo5i"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "PLAIN": KEY}
AT = "import os, sys; key = os.environ['PLAIN']; "


def parts_in(text: str) -> list[str]:
    """The parts of the key, of eight characters, that a text holds."""
    return [part for start in range(len(KEY) - 7) if (part := KEY[start : start + 8]) in text]


def test_a_key_is_looked_for_as_it_is_written() -> None:
    """A secret is also found as it stands in JSON, where quotes and letters of other alphabets are escaped."""
    secret = 'a"b\\ü-secret'
    hidden = Hidden([secret])
    assert hidden.data(json.dumps({"k": secret}).encode()) == b'{"k": "[redacted]"}'
    assert hidden.text(json.dumps([secret], ensure_ascii=False)) == '["[redacted]"]'


def test_a_secret_that_holds_another_goes_whole() -> None:
    """Of two secrets, of which one is the beginning of the other, nothing is left."""
    assert Hidden(["abcd1234", "abcd1234-more-of-it"]).text("x abcd1234-more-of-it y") == "x [redacted] y"


def test_a_secret_that_is_parted_by_control_characters_is_found() -> None:
    """What is invisible in a terminal does not hide a secret from us."""
    assert Hidden([KEY]).words(f"{KEY[:9]}\x1b[31m{KEY[9:]}\x07") == "[redacted]"


@pytest.mark.parametrize("before", [40, 70, 580, 590])
@pytest.mark.parametrize(
    ("code", "settings"),
    [
        ("print('x' * {0} + key)", {"answer_pointer": "/a"}),
        ("print('{{\"a\": [\"' + 'x' * {0} + key + '\"]}}')", {"answer_pointer": "/a"}),
        ("print('{{\"' + key + 'y' * {0} + '\": 1}}')", {"answer_pointer": "/a"}),
        ("print('{{\"id\": ' + 'x' * {0} + key)", {"batch": True}),
        ("print('{{\"id\": \"a#1\", \"' + 'x' * {0} + key + '\": 1}}')", {"batch": True}),
        ('print(\'{{"id": "a#1", "messages": "\' + \'x\' * {0} + key + \'"}}\')', {"batch": True}),
        ('print(\'{{"id": "a#1", "error": "\' + \'x\' * {0} + key + \'"}}\')', {"batch": True}),
        ("print('{{\"id\": \"' + 'x' * {0} + key + '\"}}')", {"batch": True}),
        ("sys.exit(key + 'x' * (1070 - {0}))", {}),
        ("sys.exit(key[:5] + chr(27) + '[1m' + key[5:] + 'x' * (1070 - {0}))", {}),
    ],
)
def test_no_part_of_a_key_is_shown(tmp_path: Path, code: str, settings: dict[str, Any], before: int) -> None:
    """Wherever a text is cut, and whatever stands before the key in it, no part of the key is in the error."""
    prompt: dict[str, Any] = {} if settings.get("batch") else {"prompt_by": "stdin"}
    agent = cli(
        tmp_path, script(AT + code.format(before)), environment=ENVIRONMENT, pass_env=["PLAIN"], **prompt, **settings
    )
    error = failure(agent)
    assert parts_in(f"{error} {error.hint}") == []


def test_no_part_of_a_key_is_shown_of_a_step(tmp_path: Path) -> None:
    """The complaint of `setup` is cut like that of the agent, and cleaned before."""
    setup = ["sh", "-c", 'printf "%s%0480d" "$PLAIN" 0 >&2; exit 1']
    agent = cli(
        tmp_path, script("print(1)"), prompt_by="stdin", environment=ENVIRONMENT, pass_env=["PLAIN"], setup=setup
    )
    error = failure(agent)
    assert "`setup` ended with exit code 1" in str(error)
    assert parts_in(str(error)) == []


def test_an_answer_keeps_its_words(tmp_path: Path) -> None:
    """What is taken out of failures is not taken out of the stream: a short key garbles no event."""
    agent = cli(
        tmp_path,
        script('print(\'{"type": "a text"}\')'),
        prompt_by="stdin",
        answer_pointer="/type",
        environment={"PATH": "/usr/bin:/bin", "K": "type"},
        env={"MY_KEY": "${{ K }}"},
    )
    (found,) = outcomes(agent)
    assert not isinstance(found, ProviderError)
    assert found.text == "a text"


@pytest.mark.parametrize(
    ("name", "value", "hidden"),
    [
        ("PLAIN", KEY, True),
        ("PLAIN", "short", False),
        ("LANG", "en_US.UTF-8", False),
        ("NODE_ENV", "production", False),
    ],
)
def test_what_is_passed_is_secret(name: str, value: str, hidden: bool) -> None:
    """Each passed variable is a secret, unless it is short or plainly none."""
    target = CodexTarget(name="a", provider="codex", pass_env=[name])
    assert resolve_target(target, {name: value}).secrets == ({value} if hidden else set())


def test_a_long_key_of_a_json_object_is_not_cut() -> None:
    """A name in JSON that is too long to be shown is not shown in part."""
    with pytest.raises(PointerError) as raised:
        resolve_pointer({KEY * 2: 1}, "/a")
    assert parts_in(str(raised.value)) == []


def test_the_log_of_an_agent_holds_no_key(tmp_path: Path) -> None:
    """What an agent printed as JSON has no key in its log, escaped or not."""
    secret = 'se"cret-0123456789'
    code = "import json, os; print(json.dumps(os.environ['PLAIN']))"
    agent = provider(
        tmp_path,
        code,
        logs=tmp_path / "logs",
        environment={"PATH": "/usr/bin:/bin", "PLAIN": secret},
        pass_env=["PLAIN"],
    )
    outcomes(agent)
    [log] = (tmp_path / "logs").rglob("*.log")
    assert log.read_text() == '"[redacted]"\n'
