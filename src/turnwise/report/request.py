"""What goes over the wire for a case: as data, as text for a terminal, and as a command for a shell."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Sequence
from typing import Any

from ..providers.base import HttpRequest, Preview, Rewrite
from ..providers.endpoints import SIGNED_LATER
from .terminal import Style, one_line, plain, printable

__all__ = ["curl_command", "request_record", "request_text", "rewrite_line", "secret_names"]

_LABEL = re.compile(r"\[redacted: ([^\]]*)\]")
_LONGEST_TEXT = 2000


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


def curl_command(request: HttpRequest, names: Collection[str] = (), region: str | None = None) -> str:
    """A command that sends the request. `names` are those of its secrets, which become variables of the shell;
    `region` is that of a request to be signed."""
    names = frozenset(names)
    lines = [f"curl --silent --show-error --request {request.method} {_in_shell(request.url, names)}"]
    for name, value in request.headers.items():
        if value != SIGNED_LATER:
            lines.append(f"--header {_in_shell(f'{name}: {value}', names)}")
        else:
            lines += _signing(region)
    if request.body is None:
        return " \\\n  ".join(lines)
    # On standard input: one argument may not be longer than 128 KiB, which an image often is.
    lines.append(f"--data-binary @- {_document(request.body, names)}")
    return " \\\n  ".join(lines)


def secret_names(target: Any) -> frozenset[str]:
    """The names in the labels of a target that is shown without its secrets."""
    return frozenset(_LABEL.findall(str(target.model_dump())))


def _signing(region: str | None) -> list[str]:
    return [
        f'--aws-sigv4 "aws:amz:{region}:bedrock" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"',
        # Temporary credentials have a token besides.
        '${AWS_SESSION_TOKEN:+--header} ${AWS_SESSION_TOKEN:+"x-amz-security-token: $AWS_SESSION_TOKEN"}',
    ]


def _document(body: Any, names: frozenset[str]) -> str:
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    pieces = _pieces(text, names, r"([$`\\])")
    return f"<<'JSON'\n{text}\nJSON" if pieces is None else f"<<JSON\n{''.join(pieces)}\nJSON"


def _in_shell(text: str, names: frozenset[str]) -> str:
    """A text quoted for the shell, with variables in the places of secrets."""
    pieces = _pieces(text, names, r'([$`"\\])')
    return shlex.quote(text) if pieces is None else f'"{"".join(pieces)}"'


def _pieces(text: str, names: frozenset[str], special: str) -> list[str] | None:
    """The text with special characters escaped and variables for the labels of secrets; None if it has no label."""
    from ..targets.sensitive import in_shell

    pieces = _LABEL.split(text)
    if not names & set(pieces[1::2]):
        return None
    # Every other piece is the name in a label; one that is no secret's is text that looks like it.
    return [
        f"${{{in_shell(piece)}}}" if index % 2 and piece in names
        else re.sub(special, r"\\\1", f"[redacted: {piece}]" if index % 2 else piece)
        for index, piece in enumerate(pieces)
    ]  # fmt: skip
