"""A request for people, for programs and for a shell: exact where it must be, short where it may be."""

from __future__ import annotations

import json
import subprocess
import tempfile
from typing import Any

import pytest

from turnwise.providers import HttpRequest, Preview, Rewrite
from turnwise.report.request import curl_command, request_record, request_text, rewrite_line

REWRITE = Rewrite("merged", 2, "two user messages are one", "roles must take turns")


def http(body: Any = None, **headers: str) -> HttpRequest:
    return HttpRequest(method="POST", url="https://api.example/v1/chat", headers=headers, body=body)


def preview(request: HttpRequest | None, *rewrites: Rewrite) -> Preview:
    return Preview(messages=[], rewrites=rewrites, request=request)


def test_the_record_is_the_request() -> None:
    """Method, address, headers, body and rewrites, as data."""
    request = http({"a": [1, "é"]}, Authorization="Bearer [redacted: KEY]")
    assert request_record(preview(request, REWRITE)) == {
        "request": {
            "method": "POST",
            "url": "https://api.example/v1/chat",
            "headers": {"Authorization": "Bearer [redacted: KEY]"},
            "body": {"a": [1, "é"]},
        },
        "rewrites": [
            {
                "kind": "merged",
                "message_index": 2,
                "what": "two user messages are one",
                "why": "roles must take turns",
            }
        ],
    }
    assert request_record(preview(None)) == {"request": None, "rewrites": []}


def test_the_text_has_the_line_the_headers_and_the_body() -> None:
    """In the order in which they are sent, and then the rewrites."""
    text = request_text(preview(http({"text": "né"}, Accept="x"), REWRITE))
    assert text == (
        'POST https://api.example/v1/chat\nAccept: x\n\n{\n  "text": "né"\n}\n\n'
        "rewrite: message 3: two user messages are one: roles must take turns (merged)"
    )


def test_without_http_or_body_that_is_said_or_left_out() -> None:
    """A mock sends nothing; a GET has no body."""
    assert "nothing goes over HTTP" in request_text(preview(None))
    get = HttpRequest(method="GET", url="http://127.0.0.1/x", headers={})
    assert request_text(preview(get)) == "GET http://127.0.0.1/x"


def test_long_texts_are_cut_unless_all_is_wanted() -> None:
    """Wherever they stand in the body; how much is missing is said, and the data itself is not touched."""
    long = "x" * 2500
    body = {"messages": [{"parts": (long, "short")}]}
    shown = request_text(preview(http(body)))
    assert "500 more characters" in shown
    assert long not in shown
    assert "short" in shown
    assert long in request_text(preview(http(body)), full=True)
    assert body["messages"][0]["parts"][0] == long


def test_nothing_hostile_reaches_the_terminal() -> None:
    """Not from the address, a header, the body or a rewrite; a header cannot make up another line."""
    evil = "\x1b[31m\n\u202e"
    request = HttpRequest(method="POST", url=f"http://h/{evil}", headers={"X": evil}, body={"t": evil})
    shown = request_text(preview(request, Rewrite("k", None, evil, evil)), full=True)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "X: ␛[31m␊\\u202e" in shown.splitlines()


def test_a_rewrite_of_no_message_names_none() -> None:
    """Messages are counted from 1; what concerns all of them has no number."""
    assert rewrite_line(REWRITE).startswith("message 3: ")
    assert rewrite_line(Rewrite("k", None, "a", "b")) == "a: b (k)"


def sent(command: str, **variables: str) -> list[str]:
    """The arguments with which a shell would run curl, and what it would hand it on standard input."""
    program = 'curl() { for each in "$@"; do printf "%s\\0" "$each"; done; cat; }\n' + command
    environment = {"PATH": "/usr/bin:/bin", **variables}
    with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8") as file:
        file.write(program)
        file.flush()
        done = subprocess.run(["sh", file.name], env=environment, capture_output=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().split("\0")


@pytest.mark.parametrize("text", ["It's", 'a "b" $HOME `id` \\ !x', "line\nbreak", "né — 世界", "$(id)", ""])
def test_a_shell_sends_the_very_request(text: str) -> None:
    """Whatever is in the body, a header or the address, a real shell hands it to curl unchanged."""
    request = HttpRequest(method="PUT", url=f"http://h/?q={text}", headers={"X": text}, body={"t": [text]})
    arguments = sent(curl_command(request))
    assert arguments[2:5] == ["--request", "PUT", f"http://h/?q={text}"]
    assert arguments[5:7] == ["--header", f"X: {text}"]
    assert arguments[7:9] == ["--data-binary", "@-"]
    assert json.loads(arguments[9]) == {"t": [text]}


def test_secrets_are_variables_of_the_shell() -> None:
    """The command holds names, and the shell fills in the values, whatever is in them and around them."""
    request = http(None, Authorization='Bearer "$x" [redacted: MY_KEY]', Both="[redacted: MY_KEY]-[redacted: OTHER]")
    command = curl_command(request, {"MY_KEY", "OTHER"})
    arguments = sent(command, MY_KEY="sk-'\"$(id)", OTHER="two words")
    assert 'Authorization: Bearer "$x" sk-\'"$(id)' in arguments
    assert "Both: sk-'\"$(id)-two words" in arguments
    assert "redacted" not in command


def test_a_signed_request_is_signed_by_curl() -> None:
    """AWS signatures are made when a request is sent: curl makes its own, with the user's credentials."""
    request = http({"a": 1}, Authorization="[signed with your AWS credentials when it is sent]")
    arguments = sent(curl_command(request, region="eu-west-1"), AWS_ACCESS_KEY_ID="id", AWS_SECRET_ACCESS_KEY="key")
    assert arguments[arguments.index("--aws-sigv4") + 1] == "aws:amz:eu-west-1:bedrock"
    assert arguments[arguments.index("--user") + 1] == "id:key"
    assert "signed with" not in " ".join(arguments)
    assert "x-amz-security-token" not in " ".join(arguments)
    command = curl_command(request, region="eu-west-1")
    arguments = sent(command, AWS_ACCESS_KEY_ID="id", AWS_SECRET_ACCESS_KEY="key", AWS_SESSION_TOKEN="a b")
    assert arguments[arguments.index("--header") + 1] == "x-amz-security-token: a b"


def test_without_a_body_none_is_sent() -> None:
    """A GET stays one."""
    get = HttpRequest(method="GET", url="http://127.0.0.1/x", headers={})
    assert sent(curl_command(get))[2:] == ["--request", "GET", "http://127.0.0.1/x", ""]


def test_secrets_in_a_body_are_variables_too() -> None:
    """Where a target's own fields hold one; a text that only looks like a label stays a text."""
    body = {"token": "[redacted: TOKEN]", "text": "[redacted: x] $HOME `id` \\ end"}
    arguments = sent(curl_command(http(body), {"TOKEN"}), TOKEN="t-1")
    assert json.loads(arguments[-1]) == {"token": "t-1", "text": "[redacted: x] $HOME `id` \\ end"}


def test_a_large_body_is_no_argument() -> None:
    """One argument of a command may not be longer than 128 KiB on Linux."""
    arguments = sent(curl_command(http({"image": "x" * 300_000})))
    assert len(json.loads(arguments[-1])["image"]) == 300_000
