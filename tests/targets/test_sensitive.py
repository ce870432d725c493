"""Secrets of targets: what is shown, and what is masked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import ResolvedTarget, resolve_target
from turnwise.targets.sensitive import looks_secret, secret_values

SECRET = "hush-0123456789"


def resolved(environment: dict[str, str] | None = None, /, provider: str = "openai", **settings: Any) -> ResolvedTarget:
    """A resolved target."""
    takes_model = "model" in PROVIDERS[provider].model_fields and "command" not in settings
    model = {"model": "m"} if takes_model else {}
    data = {"name": "t", "provider": provider, **model, **settings}
    return resolve_target(PROVIDERS[provider].model_validate(data), environment or {})


def views(name: str, environment: dict[str, str], /, **settings: Any) -> tuple[Any, Any]:
    """One setting as it is sent and shown."""
    each = resolved(environment, **settings)
    return getattr(each.target, name), getattr(each.shown, name)


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "X-Api-Key",
        "apiKey",
        "Authorization",
        "DB_PASS",
        "PGPASSWORD",
        "GITHUB_PAT",
        "Cookie",
        "SECRETS",
    ],
)
def test_names_that_look_secret(name: str) -> None:
    """Names of keys, tokens, passwords and logins, in whatever spelling."""
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["max_tokens", "keyword", "author", "path", "pass_env", "HOST", "model", "X-Team", ""])
def test_names_that_do_not(name: str) -> None:
    """Words that only begin like those, or mean something else."""
    assert not looks_secret(name)


def test_a_key_from_a_variable() -> None:
    """A key is shown as the name of its variable."""
    environment = {"OPENAI_API_KEY": SECRET}
    assert views("api_key", environment) == (SECRET, "[redacted: OPENAI_API_KEY]")
    assert views("api_key", {"K": SECRET}, api_key="${{ K }}")[1] == "[redacted: K]"


def test_a_key_that_is_written_out() -> None:
    """A literal key is shown as the name of its setting, and there is a warning that does not hold it."""
    assert views("api_key", {}, api_key=SECRET) == (SECRET, "[redacted: api_key]")
    (warning,) = resolved({}, api_key=SECRET).warnings
    assert "`api_key`" in warning
    assert "${{ NAME }}" in warning
    assert SECRET not in warning


def test_a_key_of_which_a_part_is_a_variable() -> None:
    """The variable is named; what stands around it is no secret without it, and no reason for a warning."""
    assert views("api_key", {"K": SECRET}, api_key="pre-${{ K }}") == (f"pre-{SECRET}", "pre-[redacted: K]")
    assert resolved({"K": SECRET}, api_key="pre-${{ K }}").warnings == ()


def test_variables_in_bodies_and_queries_are_hidden() -> None:
    """What an application calls its key is anybody's guess; a host is shown."""
    environment = {"HOST": "h.org", "APPTOK": SECRET}
    url, body = "https://${{ HOST }}/c?t=${{ APPTOK }}", {"k": "${{ APPTOK }}"}
    shown: Any = resolved(environment, provider="http", url=url, body=body).shown
    assert (shown.url, shown.body) == ("https://h.org/c?t=[redacted: APPTOK]", {"k": "[redacted: APPTOK]"})


def test_no_warning_where_no_secret_is_written() -> None:
    """A variable is no reason for a warning, nor is a placeholder for servers that want any key."""
    assert resolved({"K": SECRET}, api_key="${{ K }}", headers={"Authorization": "Bearer ${{ K }}"}).warnings == ()
    assert resolved({}, api_key="none").warnings == ()


def test_headers() -> None:
    """Headers with secret names, and those that come from variables, are hidden; others are shown."""
    environment = {"T": "blue-team", "TOKEN": SECRET, "OPENAI_API_KEY": "k-12345"}
    headers = {"X-A": "plain", "X-B": "${{ T }}", "Authorization": "Bearer ${{ TOKEN }}", "X-Api-Key": "literal-1"}
    sent, shown = views("headers", environment, headers=headers)
    assert sent == {"X-A": "plain", "X-B": "blue-team", "Authorization": f"Bearer {SECRET}", "X-Api-Key": "literal-1"}
    assert shown == {
        "X-A": "plain",
        "X-B": "[redacted: T]",
        "Authorization": "Bearer [redacted: TOKEN]",
        "X-Api-Key": "[redacted: X-Api-Key]",
    }
    assert resolved(environment, headers=headers).secrets == {"blue-team", SECRET, "literal-1", "k-12345"}


def test_the_environment_of_an_agent() -> None:
    """What an agent's environment gets from a variable, or under a secret name, is hidden."""
    found: Any = resolved({"V": "value-1"}, provider="codex", env={"A": "${{ V }}", "MY_KEY": SECRET, "B": "b"}).shown
    assert found.env == {"A": "[redacted: V]", "MY_KEY": "[redacted: MY_KEY]", "B": "b"}


def test_a_variable_with_a_secret_name_is_hidden_everywhere() -> None:
    """In an argument, a body or a path the name of the variable decides."""
    found: Any = resolved({"MY_TOKEN": SECRET}, provider="cli", command=["agent", "--t=${{ MY_TOKEN }}"]).shown
    assert found.command == ["agent", "--t=[redacted: MY_TOKEN]"]
    health = {"type": "http", "url": "http://h/${{ MY_TOKEN }}"}
    found = resolved({"MY_TOKEN": SECRET}, provider="cli", command="a", healthcheck=health).shown
    assert found.healthcheck.url == "http://h/[redacted: MY_TOKEN]"


@pytest.mark.parametrize(
    ("written", "environment", "shown"),
    [
        ("https://me:hush-1@h/v1", {}, "https://[redacted: base_url]@h/v1"),
        ("https://${{ U }}:${{ P }}@h/v1", {"U": "me-me", "P": "hush-1"}, "https://[redacted: U]:[redacted: P]@h/v1"),
        ("${{ URL }}", {"URL": "https://me:hush-1@h/v1"}, "https://[redacted: URL]@h/v1"),
        ("https://me:${{ P }}@h", {"P": "hush-1"}, "https://[redacted: base_url]@h"),
    ],
)
def test_logins_in_addresses(written: str, environment: dict[str, str], shown: str) -> None:
    """What stands before the `@` of an address is hidden, however it got there."""
    assert views("base_url", environment, base_url=written)[1] == shown
    assert "hush-1" in resolved(environment, base_url=written).secrets


def test_keys_in_queries() -> None:
    """A key in the query of an address is hidden; a placeholder and other parameters are shown."""
    url = "https://h/c?api_key=hush-1&q={{ question }}&token={{ vars.T }}"
    each = resolved({}, provider="http", url=url)
    shown: Any = each.shown
    assert shown.url == "https://h/c?api_key=[redacted: url]&q={{ question }}&token={{ vars.T }}"
    assert "hush-1" in each.secrets


def test_passwords_of_proxies_and_encoded_ones_are_masked() -> None:
    """A message about a proxy could hold its password: it is among the secrets, as written and decoded."""
    environment = {"OPENAI_API_KEY": SECRET, "https_proxy": "http://me:p%40ss-1@proxy:3128"}
    assert {"p%40ss-1", "p@ss-1"} <= resolved(environment).secrets


def test_numbers_are_not_hidden_and_short_texts_not_masked() -> None:
    """A number is no secret whatever its variable is called, and masking `1` would spoil every message."""
    each = resolved({"OPENAI_API_KEY": SECRET, "KEY_COUNT": "4"}, workers="${{ KEY_COUNT }}")
    assert (each.target.workers, each.shown.workers) == (4, 4)
    assert each.secrets == {SECRET}


def test_nothing_of_a_resolved_target_prints_secrets() -> None:
    """Its `repr`, which ends up in logs and failed tests, holds no secret."""
    each = resolved({"OPENAI_API_KEY": SECRET})
    assert SECRET not in repr(each)


@given(
    st.sampled_from(
        ["${{ A_KEY }}", "x ${{ A_KEY }} y", "https://${{ A_KEY }}@h", "https://u:${{ A_KEY }}@h/?k=${{ A_KEY }}"]
    ),
    st.sampled_from(["description", "system_prompt", "model", "api_key", "stop", "reasoning_effort", "headers"]),
)  # fmt: skip
def test_no_view_holds_a_secret(text: str, name: str) -> None:
    """Wherever a secret variable stands, neither view shows it, and it is among the secrets."""
    value: Any = {"X": text} if name == "headers" else text
    if name == "api_key":
        value = "${{ A_KEY }}"
    each = resolved({"A_KEY": SECRET, "OPENAI_API_KEY": "other-key"}, **{name: value})
    assert SECRET in repr(each.target)
    assert SECRET not in repr(each.shown)
    assert SECRET in each.secrets


def test_a_plain_word_of_the_environment_is_no_secret() -> None:
    """To take `staging` out of every answer would change what they say; a key is one wherever it stands."""
    settings = {"provider": "cli", "env": {"STAGE": "${{ STAGE }}", "DB": "${{ DB }}", "MY_TOKEN": "${{ WORD }}"}}
    known = {"STAGE": "staging", "DB": "pg-9731", "WORD": "hunter"}
    assert secret_values(settings, known) == {"pg-9731", "hunter"}


def test_folders_are_no_secrets() -> None:
    """The shell's own variables for the current folder look like passwords, and are none."""
    assert not looks_secret("PWD")
    assert not looks_secret("OLDPWD")
    assert looks_secret("DB_PWD")
