"""Amazon's request signatures, made by botocore, which is an extra."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..errors import AuthenticationError, SetupError
from .base import HttpRequest
from .http import body_bytes

__all__ = ["signed"]

_INSTALL = "pip install 'turnwise[bedrock]'"


def signed(request: HttpRequest, *, region: str, profile: str | None, environment: Mapping[str, str]) -> HttpRequest:
    """The request with the headers of a SigV4 signature. Blocks: credentials may come from files or a helper.

    A key in `environment` goes first, unless the target names a profile; it may come from a `.env` file, which
    botocore does not know.
    """
    try:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        message = "requests to Bedrock are signed with botocore, which is not installed"
        raise SetupError(message, hint=_INSTALL) from error
    headers = {"Content-Type": "application/json", **request.headers}
    unsigned = AWSRequest(method=request.method, url=request.url, headers=headers, data=body_bytes(request.body))
    try:
        credentials = _given(environment) if profile is None else None
        credentials = credentials or _configured(profile or environment.get("AWS_PROFILE"))
        SigV4Auth(credentials.get_frozen_credentials(), "bedrock", region).add_auth(unsigned)
    except BotoCoreError as error:
        message = f"your AWS configuration cannot be used: {' '.join(str(error).split())}"
        raise AuthenticationError(message, hint="see `aws configure` and `aws sso login`") from error
    return HttpRequest(
        method=request.method, url=request.url, headers=dict(unsigned.headers.items()), body=request.body
    )


def _given(environment: Mapping[str, str]) -> Any:
    from botocore.credentials import Credentials

    key, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
    return Credentials(key, secret, environment.get("AWS_SESSION_TOKEN")) if key and secret else None


@lru_cache(maxsize=16)
def _configured(profile: str | None) -> Any:
    from botocore.session import Session

    credentials = Session(profile=profile).get_credentials()
    if credentials is None:
        hint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or `profile` or `api_key` of the target"
        raise AuthenticationError("no AWS credentials were found", hint=hint)
    return credentials
