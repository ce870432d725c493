"""What goes over the wire for a case: as data, as text for a terminal, and as a command for a shell."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from typing import Any

from ..providers.base import HttpRequest, Preview, Rewrite
from .terminal import Style, one_line, plain, printable

__all__ = ["curl_command", "request_record", "request_text", "rewrite_line"]

_LABEL = re.compile(r"\[redacted: ([^\]]*)\]")
_LONGEST_TEXT = 2000
_SIGNED = "[signed with your AWS credentials when it is sent]"


def request_record(preview: Preview) -> dict[str, Any]:
    """The request and the rewrites, as data; secrets are named, not shown."""
    request = preview.request
    return {
        "request": None
        if request is None
        else {
            "method": request.method,
            "url": request.url,
            "headers": dict(request.headers),
            "body": request.body,
        },
        "rewrites": [
            {"kind": each.kind, "message_index": each.message_index, "what": each.what, "why": each.why}
            for each in preview.rewrites
        ],
    }


def request_text(preview: Preview, *, style: Style = plain, full: bool = False) -> str:
    """The same for a person: long texts are cut unless `full`."""
    request = preview.request
    if request is None:
        lines = ["  (nothing goes over HTTP for this target)"]
    else:
        lines = [style(one_line(f"{request.method} {request.url}"), "green", bold=True)]
        lines += [one_line(f"{name}: {value}") for name, value in request.headers.items()]
        if request.body is not None:
            body = request.body if full else _shortened(request.body)
            lines += ["", printable(json.dumps(body, ensure_ascii=False, indent=2))]
    return "\n".join([*lines, *_rewrite_lines(preview.rewrites, style)])


def _rewrite_lines(rewrites: Sequence[Rewrite], style: Style) -> list[str]:
    if not rewrites:
        return []
    return ["", *(f"{style('rewrite:', 'yellow')} {rewrite_line(each)}" for each in rewrites)]


def rewrite_line(rewrite: Rewrite) -> str:
    """One rewrite in one line; messages are counted from 1, as people do."""
    where = "" if rewrite.message_index is None else f"message {rewrite.message_index + 1}: "
    return one_line(f"{where}{rewrite.what}: {rewrite.why} ({rewrite.kind})")


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return f"{value[:_LONGEST_TEXT]}… {len(value) - _LONGEST_TEXT:,} more characters (--full shows them)"
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shortened(item) for item in value]
    return value


def curl_command(request: HttpRequest, region: str | None = None) -> str:
    """A command that sends the request; keys are variables of the shell. `region` is that of a request to be signed."""
    lines = [f"curl --request {request.method} {_in_shell(request.url)}"]
    for name, value in request.headers.items():
        if value != _SIGNED:
            lines.append(f"--header {_in_shell(f'{name}: {value}')}")
        else:
            lines.append(f'--aws-sigv4 "aws:amz:{region}:bedrock" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"')
    if request.body is not None:
        body = json.dumps(request.body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        lines.append(f"--data-binary {shlex.quote(body)}")
    return " \\\n  ".join(lines)


def _in_shell(text: str) -> str:
    """A text quoted for the shell, with variables in the places of secrets."""
    from ..targets.sensitive import in_shell

    if not _LABEL.search(text):
        return shlex.quote(text)
    pieces = _LABEL.split(text)
    # Every other piece is the name in a label.
    pieces[::2] = [re.sub(r'([$`"\\])', r"\\\1", piece) for piece in pieces[::2]]
    pieces[1::2] = [f"${{{in_shell(name)}}}" for name in pieces[1::2]]
    return f'"{"".join(pieces)}"'
