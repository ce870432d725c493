"""Amazon's request signatures, made by botocore, which is an extra."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..errors import AuthenticationError, SetupError
from .base import HttpRequest
from .http import serialised

__all__ = ["signed"]

_INSTALL = "pip install 'turnwise[bedrock]'"


def signed(request: HttpRequest, *, region: str, profile: str | None) -> HttpRequest:
    """The request with the headers of a SigV4 signature. Blocks: credentials may come from files or a helper."""
    try:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
    except ImportError as error:
        message = "requests to Bedrock are signed with botocore, which is not installed"
        raise SetupError(message, hint=_INSTALL) from error
    credentials = _credentials(profile)
    headers = {"Content-Type": "application/json", **request.headers}
    unsigned = AWSRequest(method=request.method, url=request.url, headers=headers, data=serialised(request.body))
    SigV4Auth(credentials.get_frozen_credentials(), "bedrock", region).add_auth(unsigned)
    return HttpRequest(
        method=request.method, url=request.url, headers=dict(unsigned.headers.items()), body=request.body
    )


@lru_cache(maxsize=16)
def _credentials(profile: str | None) -> Any:
    from botocore.exceptions import BotoCoreError
    from botocore.session import Session

    try:
        credentials = Session(profile=profile).get_credentials()
    except BotoCoreError as error:
        raise AuthenticationError(f"your AWS configuration cannot be used: {error}", hint="aws configure") from error
    if credentials is None:
        hint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or `profile` or `api_key` of the target"
        raise AuthenticationError("no AWS credentials were found", hint=hint)
    return credentials
