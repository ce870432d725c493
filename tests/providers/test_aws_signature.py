"""Requests to Bedrock are signed as botocore signs them, with credentials from wherever the project has them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from turnwise.errors import AuthenticationError, BadRequestError
from turnwise.providers import HttpRequest
from turnwise.providers.aws_signature import signed

KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG"}
URL = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m%3A0/converse"


def request(body: object = None) -> HttpRequest:
    return HttpRequest(method="POST", url=URL, headers={}, body={"messages": []} if body is None else body)


@pytest.fixture
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without AWS credentials, which is not asked for some over the network either."""
    for name in (*KEYS, "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.mark.usefixtures("no_configuration")
def test_keys_of_the_projects_environment_sign() -> None:
    """A key in `.env`, which botocore does not know, signs for the region and the service; a token goes along."""
    made = signed(request(), region="eu-west-1", profile=None, environment={**KEYS, "AWS_SESSION_TOKEN": "tok"})
    authorization = made.headers["Authorization"]
    assert authorization.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-west-1/bedrock/aws4_request" in authorization
    assert made.headers["X-Amz-Security-Token"] == "tok"
    assert "wJalr" not in str(made.headers)


@pytest.mark.usefixtures("no_configuration")
def test_without_credentials_nothing_is_signed() -> None:
    """The error says what can be set."""
    with pytest.raises(AuthenticationError, match="no AWS credentials") as caught:
        signed(request(), region="eu-west-1", profile=None, environment={})
    assert "AWS_ACCESS_KEY_ID" in (caught.value.hint or "")


@pytest.mark.usefixtures("no_configuration")
def test_a_profile_that_is_not_there_is_named() -> None:
    """A profile goes before keys of the environment; one that does not exist is an error, not another account."""
    with pytest.raises(AuthenticationError, match="nobody"):
        signed(request(), region="eu-west-1", profile="nobody", environment=KEYS)


@pytest.mark.parametrize("body", [{"temperature": float("nan")}, {"schema": {"default": date(2026, 1, 1)}}])
def test_a_body_that_is_no_json_is_a_bad_request(body: object) -> None:
    """What cannot be sent cannot be signed: a typed error, not one of Python's."""
    with pytest.raises(BadRequestError, match="not JSON"):
        signed(request(body), region="eu-west-1", profile=None, environment=KEYS)
