"""Answers that are no success, in the forms of every API."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.errors import (
    AuthenticationError,
    BadRequestError,
    ContentFilterError,
    ContextLengthError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProtocolError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)
from turnwise.providers.http import HttpAnswer
from turnwise.providers.status import json_body, reported_error, status_error

RETRIED = (408, 409, 425, 429, 500, 502, 503, 504, 529)


def error_for(status: int, body: Any = b"", headers: dict[str, str] | None = None, **options: Any) -> ProviderError:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    options = {"api": "api.example.com", "retry_statuses": RETRIED, **options}
    return status_error(HttpAnswer(status, headers or {}, data), **options)


def openai(message: str, code: str | None = None, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def gemini(code: int, status: str, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def amazon(kind: str) -> dict[str, str]:
    return {"x-amzn-ErrorType": f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, BadRequestError),
        (401, AuthenticationError),
        (402, RateLimitError),
        (403, PermissionDeniedError),
        (404, NotFoundError),
        (405, BadRequestError),
        (408, ProviderTimeoutError),
        (409, BadRequestError),
        (413, ContextLengthError),
        (422, BadRequestError),
        (425, BadRequestError),
        (429, RateLimitError),
        (500, OverloadedError),
        (502, OverloadedError),
        (503, OverloadedError),
        (504, ProviderTimeoutError),
        (529, OverloadedError),
    ],
)
def test_status_alone(status: int, expected: type[ProviderError]) -> None:
    """Where the body says nothing the status decides, also about a retry."""
    error = error_for(status)
    assert type(error) is expected
    assert error.status == status
    assert error.retryable == (status in RETRIED)
    assert f"status {status}" in str(error)


@pytest.mark.parametrize("status", [400, 404, 418, 500])
def test_retry_statuses_are_the_users(status: int) -> None:
    """A status is retried exactly if the target says so."""
    assert error_for(status, retry_statuses=[status]).retryable
    assert not error_for(status, retry_statuses=[]).retryable


@pytest.mark.parametrize(
    ("status", "body", "headers", "expected"),
    [
        (401, openai("Incorrect API key provided", "invalid_api_key"), {}, AuthenticationError),
        (400, openai("This model's maximum context length is 8192 tokens.", "context_length_exceeded"), {},
         ContextLengthError),
        (400, openai("Your request was rejected by our safety system.", "content_policy_violation"), {},
         ContentFilterError),
        (404, openai("The model `x` does not exist", "model_not_found"), {}, NotFoundError),
        (429, openai("Rate limit reached", "rate_limit_exceeded", "requests"), {}, RateLimitError),
        (400, {"error": {"code": "content_filter", "message": "The response was filtered", "innererror": {
            "code": "ResponsibleAIPolicyViolation"}}}, {}, ContentFilterError),
        (400, {"error": {"code": "BadRequest", "message": "no", "innererror": {
            "code": "ResponsibleAIPolicyViolation"}}}, {}, ContentFilterError),
        (404, {"error": {"code": "DeploymentNotFound", "message": "The API deployment does not exist."}}, {},
         NotFoundError),
        (401, {"statusCode": 401, "message": "Unauthorized"}, {}, AuthenticationError),
        (401, anthropic("authentication_error", "invalid x-api-key"), {}, AuthenticationError),
        (403, anthropic("permission_error", "not allowed"), {}, PermissionDeniedError),
        (400, anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), {},
         ContextLengthError),
        (400, anthropic("invalid_request_error", "messages: at least one message is required"), {}, BadRequestError),
        (413, anthropic("request_too_large", "Request exceeds the maximum size"), {}, ContextLengthError),
        (529, anthropic("overloaded_error", "Overloaded"), {}, OverloadedError),
        (400, gemini(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
                     {"reason": "API_KEY_INVALID"}), {}, AuthenticationError),
        (400, [gemini(400, "INVALID_ARGUMENT", "API key not valid.")], {}, AuthenticationError),
        (400, gemini(400, "INVALID_ARGUMENT", "The input token count (2000000) exceeds the maximum number of tokens "
                     "allowed (1048576)."), {}, ContextLengthError),
        (403, gemini(403, "PERMISSION_DENIED", "no access"), {}, PermissionDeniedError),
        (503, gemini(503, "UNAVAILABLE", "The model is overloaded."), {}, OverloadedError),
        (403, {"message": "The security token included in the request is invalid."},
         amazon("UnrecognizedClientException"), AuthenticationError),
        (403, {"message": "expired"}, amazon("ExpiredTokenException"), AuthenticationError),
        (403, {"__type": "com.amazon.coral.service#ExpiredToken", "Message": "expired"}, {}, AuthenticationError),
        (403, {"message": "You don't have access to the model"}, amazon("AccessDeniedException"),
         PermissionDeniedError),
        (400, {"message": "Input is too long for requested model."}, amazon("ValidationException"),
         ContextLengthError),
        (429, {"message": "Too many requests"}, amazon("ThrottlingException"), RateLimitError),
        (400, {"error": {"code": 400, "message": "the request exceeds the available context size",
                         "type": "exceed_context_size_error", "n_ctx": 512}}, {}, ContextLengthError),
        (400, {"object": "error", "message": "This model's maximum context length is 2048 tokens.",
               "type": "BadRequestError", "code": 400}, {}, ContextLengthError),
        (404, {"error": "model 'x' not found"}, {}, NotFoundError),
        (422, {"detail": [{"loc": ["body", "model"], "msg": "field required"}]}, {}, BadRequestError),
    ],
)  # fmt: skip
def test_bodies(status: int, body: Any, headers: dict[str, str], expected: type[ProviderError]) -> None:
    """Codes and sentences of each API give the error its class."""
    assert type(error_for(status, body, headers)) is expected


def test_sentence_of_a_rate_limit_is_no_context_length() -> None:
    """A 429 is a rate limit, whatever lengths its sentence mentions."""
    assert type(error_for(429, openai("prompt is too long for the tokens per minute"))) is RateLimitError


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota")),
        (400, anthropic("invalid_request_error", "Your credit balance is too low to access the API")),
        (402, anthropic("billing_error", "Payment required")),
        (429, openai("Billing hard limit has been reached", "billing_hard_limit_reached")),
    ],
)
def test_used_up_quota_does_not_pass(status: int, body: Any) -> None:
    """A quota that is used up is a rate limit that no retry mends, and the hint names the bill."""
    error = error_for(status, body, retry_statuses=range(400, 600))
    assert type(error) is RateLimitError
    assert not error.retryable
    assert "billing" in (error.hint or "")


def test_gemini_quota_passes() -> None:
    """Gemini's quota of a minute passes, after the delay that its body names."""
    body = gemini(
        429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.",
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"},
    )  # fmt: skip
    error = error_for(429, body)
    assert error.retryable
    assert error.retry_after == 34.5


def test_retry_after_is_read() -> None:
    """The wait that the headers ask for is in the error, by the clock given."""
    assert error_for(429, headers={"Retry-After": "12"}).retry_after == 12.0
    assert error_for(503, headers={"Retry-After": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=50.0).retry_after == 10.0
    assert error_for(429).retry_after is None


def test_refused_key_names_its_variable() -> None:
    """A refused key is described by its variable and host, and the hint says where to look."""
    error = error_for(401, openai("Incorrect API key"), credential="OPENAI_API_KEY")
    assert str(error).startswith("the key from OPENAI_API_KEY was refused by api.example.com (status 401)")
    assert "OPENAI_API_KEY" in (error.hint or "")


class TestQuotes:
    def test_message_is_quoted(self) -> None:
        """The server's own sentence is in the message."""
        assert "no field `x`" in str(error_for(400, openai("no field `x`")))

    def test_one_short_line(self) -> None:
        """Of a long message with many lines one line of at most 500 characters is quoted."""
        quote = str(error_for(400, openai("a\nb\r\n\tc " + "x" * 5000))).partition("): ")[2]
        assert quote.startswith("a b c x")
        assert quote.endswith("…")
        assert len(quote) == 500

    def test_control_characters_are_escaped(self) -> None:
        """What could change the terminal, or cannot be written, is shown as an escape."""
        message = str(error_for(400, openai("a\x1b[31mb\u202ec\ud800d")))
        assert "a\\x1b[31mb\\u202ec\\ud800d" in message

    @pytest.mark.parametrize(
        "secret",
        ["sk-proj-abcdefgh12345678", "sk-ant-api03-abcdefgh_1234", "AIzaSyA1234567890abcdef", "gsk_abcdefgh1234"],
    )
    def test_keys_are_masked(self, secret: str) -> None:
        """What looks like a key is not shown, whoever's it is."""
        message = str(error_for(401, openai(f"Incorrect API key provided: {secret}. Find yours online.")))
        assert secret not in message
        assert "provided: ***" in message

    @given(st.integers(0, 600))
    def test_given_secrets_are_masked(self, place: int) -> None:
        """A value that is secret is not shown, not even in part, wherever in the message it is."""
        message = str(
            error_for(400, openai(" " * 9_900 + "x" * place + "my own secret words"), secrets=["my own secret words"])
        )
        assert "own" not in message

    def test_secret_in_plain_text_is_masked(self) -> None:
        """The same holds for answers that are not JSON, and for pages."""
        page = b"<html><title>bad hunter22</title></html>"
        assert "hunter22" not in str(error_for(400, b"bad hunter22", secrets=["hunter22"]))
        assert "hunter22" not in str(error_for(400, page, secrets=["hunter22"]))

    def test_page_for_people(self) -> None:
        """A page is named as one, with its title."""
        page = b"<!DOCTYPE html><html><head><title>502 Bad\n Gateway</title></head></html>"
        error = error_for(502, page)
        assert "an HTML page instead of JSON, titled “502 Bad Gateway”" in str(error)
        assert type(error) is OverloadedError

    @given(st.integers(400, 599), st.one_of(st.binary(max_size=60), st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
            st.sampled_from(["error", "message", "code", "type", "details", "innererror", "retryDelay", "reason"]),
            inner, max_size=4),
        max_leaves=8)))  # fmt: skip
    def test_any_body_gives_an_error(self, status: int, body: Any) -> None:
        """Whatever the body holds, the answer becomes an error of one printable line."""
        error = error_for(status, body)
        assert isinstance(error, ProviderError)
        assert str(error).isprintable()


class TestJsonBody:
    def read(self, body: bytes, status: int = 200, **options: Any) -> Any:
        return json_body(HttpAnswer(status, {"content-type": "text/plain"}, body), api="api.example.com", **options)

    def test_json_of_any_content_type(self) -> None:
        """Valid JSON is accepted whatever its content type, and with a byte order mark."""
        assert self.read(b'{"a": [1, "n\xc3\xa9"]}') == {"a": [1, "né"]}
        assert self.read(b"\xef\xbb\xbf[1]") == [1]

    @pytest.mark.parametrize(
        ("body", "said", "retryable"),
        [
            (b"", "is empty", True),
            (b" \n", "is empty", True),
            (b'{"a": "\xff"}', "not UTF-8", True),
            (b'{"a": [1, 2', "ends too early", True),
            (b'{"a": "text', "ends too early", True),
            (b'{"a": tru', "ends too early", True),
            (b'{"a": 1,', "ends too early", True),
            (b'{"a": {"b": 1}', "ends too early", True),
            (b"<html><title>Log in</title>", "an HTML page instead of JSON, titled “Log in”", False),
            (b"hello", "something else than JSON", False),
            (b'{"a": 1} x}', "something else than JSON", False),
            (b'{"a": NaN}', "NaN is not JSON", False),
            (b"[-Infinity]", "-Infinity is not JSON", False),
            (b"[" * 100_000 + b"]" * 100_000, "nested too deeply", False),
            (b'{"a":' * 300 + b"1" + b"}" * 300, "nested too deeply", False),
            (b"[" + b"9" * 5000 + b"]", "something else than JSON", False),
        ],
    )
    def test_anything_else(self, body: bytes, said: str, retryable: bool) -> None:
        """What came instead of JSON is said; what was cut off may be whole the next time."""
        with pytest.raises(ProtocolError) as caught:
            self.read(body)
        assert said in str(caught.value)
        assert caught.value.retryable is retryable
        assert caught.value.status == 200

    def test_many_brackets_are_not_deep(self) -> None:
        """A wide body is accepted, and so are brackets in a text."""
        assert len(self.read(b"[" + b",".join([b"[1]"] * 1000) + b"]")) == 1000
        assert self.read(json.dumps({"a": "[{" * 1000}).encode()) == {"a": "[{" * 1000}

    def test_what_is_shown_is_masked(self) -> None:
        """A secret in what came instead of JSON is not shown."""
        with pytest.raises(ProtocolError) as caught:
            self.read(b"your key is hunter22", secrets=["hunter22"])
        assert "hunter22" not in str(caught.value)

    def test_error_in_a_success(self) -> None:
        """A success that holds an error object is that error, with the status that its code names."""
        body = json.dumps({"error": {"code": 429, "message": "slow down"}}).encode()
        with pytest.raises(RateLimitError, match="slow down") as caught:
            self.read(body, retry_statuses=RETRIED)
        assert (caught.value.status, caught.value.retryable) == (429, True)

    @pytest.mark.parametrize("error", [None, {}, "text", 0])
    def test_no_error_object(self, error: Any) -> None:
        """An `error` that is no object, such as null, is left to the API's own reader."""
        assert self.read(json.dumps({"error": error}).encode()) == {"error": error}


@pytest.mark.parametrize(
    ("data", "expected", "retryable"),
    [
        (anthropic("overloaded_error", "Overloaded"), OverloadedError, True),
        (anthropic("rate_limit_error", "Slow down"), RateLimitError, True),
        (anthropic("api_error", "Internal"), OverloadedError, True),
        (anthropic("invalid_request_error", "no"), BadRequestError, False),
        ({"__type": "throttlingException", "message": "slow"}, RateLimitError, True),
        ({"__type": "modelStreamErrorException", "message": "broke"}, OverloadedError, True),
        ({"__type": "validationException", "message": "Input is too long"}, ContextLengthError, False),
        ({"error": {"code": "server_error", "message": "sorry"}}, OverloadedError, True),
        ({"error": {"code": "not_found", "message": "which?"}}, NotFoundError, False),
        ({"error": {"message": "strange"}}, BadRequestError, False),
        ({"error": "text"}, BadRequestError, False),
        ("text", BadRequestError, False),
    ],
)
def test_reported_error(data: Any, expected: type[ProviderError], retryable: bool) -> None:
    """An error reported inside a success or a stream is classified by its code, and shows no status it did not have."""
    error = reported_error(data, api="api.example.com", retry_statuses=RETRIED)
    assert type(error) is expected
    assert error.retryable is retryable
    assert error.status is None
    assert "status" not in str(error)
