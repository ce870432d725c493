"""Aider: `aider --message-file`, one process for each request. It writes text, not events."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ....targets.agent_rules import check_owner_of_key
from ...base import Usage
from ..counts import amount
from ..kind import Start, Task
from ..session import Session

if TYPE_CHECKING:
    from ....programs.program import Ran

__all__ = ["Aider"]

_FLAGS = (
    "--no-git", "--yes-always", "--no-check-update", "--analytics-disable", "--no-show-model-warnings",
    "--no-show-release-notes", "--no-detect-urls", "--no-suggest-shell-commands", "--no-stream", "--no-pretty",
    "--no-gitignore",
)  # fmt: skip
_TITLE = re.compile(r"^Aider v", re.MULTILINE)
_BEFORE_ANSWER = re.compile(r"^(Added .* to the chat.*|https://aider\.chat/\S*|\s*)$")
_FAILED = re.compile(r"^(litellm\.\w+: .*|.*\bAuthenticationError\b.*)$", re.MULTILINE)
_TOKENS = re.compile(r"^Tokens: ([\d.,]+[kM]?) sent,.*?([\d.,]+[kM]?) received\.?(?: Cost: \$([\d.]+) message.*)?$")
_APPLIED = re.compile(r"^Applied edit to (.+)$")
_UNITS = {"k": 1_000, "M": 1_000_000}


class Aider:
    """How Aider is started, and how its output is read."""

    title = "Aider"
    program = "aider"
    install = "python -m pip install aider-install && aider-install"
    config_variables = ()
    signs_in = "set the target's `api_key`, or pass its vendor's variable, such as OPENAI_API_KEY, by `pass_env`"

    def start(self, task: Task) -> Start:
        """`aider`, in the workspace, without questions. It opens no files by itself: those of the case are given to it.
        What it remembers stays out of the workspace."""
        target = task.target
        prompt = task.scratch / "prompt.md"
        memory = [
            word
            for name in ("input-history", "chat-history")
            for word in (f"--{name}-file", str(task.scratch / f"aider.{name}"))
        ]
        given = [word for file in task.files for word in ("--read", str(file.path))]
        model = ("--model", _model(target)) if target.model else ()
        return Start(
            command=(
                target.executable or self.program,
                *_FLAGS,
                *memory,
                *model,
                *given,
                *(target.args or ()),
                "--message-file",
                str(prompt),
            ),
            variables=_variables(target),
            files={prompt: task.prompt.encode("utf-8", "replace").decode()},
        )

    def read(self, ran: Ran, task: Task) -> Session:  # noqa: ARG002
        """What stands between its title and its count of tokens is the answer; an edit is a call of `edit`."""
        session = Session()
        read_aider(ran.output.decode("utf-8", "replace").replace("\r\n", "\n"), session)
        return session


def _model(target: Any) -> str:
    model = str(target.model)
    return f"openai/{model}" if target.base_url and not model.startswith("openai/") else model


def _variables(target: Any) -> dict[str, str]:
    if target.base_url:
        return {"OPENAI_API_BASE": target.base_url, "OPENAI_API_KEY": target.api_key or "none"}
    if not target.api_key:
        return {}
    check_owner_of_key(target, "Aider")
    vendor = target.model.partition("/")[0]
    return {"AIDER_API_KEY": f"{vendor}={target.api_key}"}


def read_aider(text: str, session: Session) -> None:
    """Read what it wrote, line by line, after the block that begins with its title. A count of tokens ends an answer;
    what comes after the last is said by the program, not by the model."""
    said: list[str] = []
    for line in _after_title(text):
        if found := _TOKENS.match(line):
            _say(said, session)
            _count(found, session)
        elif found := _APPLIED.match(line):
            _edit(found[1], said, session)
        else:
            said.append(line)
    if session.text is None:
        _say(said, session)
    if session.text is None or _FAILED.match(session.text):
        failed = _FAILED.search(text)
        session.failure = failed[0] if failed else None


def _after_title(text: str) -> list[str]:
    found = _TITLE.search(text)
    lines = text[found.start() :].split("\n") if found else []
    start = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    while start < len(lines) and _BEFORE_ANSWER.match(lines[start]):
        start += 1
    return lines[start:]


def _edit(path: str, said: list[str], session: Session) -> None:
    said.clear()  # only the name of the file
    identity = f"edit_{len(session.messages)}"
    session.call(identity, "edit", {"path": path})
    session.result(identity, f"Applied edit to {path}")


def _say(said: list[str], session: Session) -> None:
    if text := "\n".join(said).strip():
        session.text = text
        session.say(text)
    said.clear()


def _count(found: re.Match[str], session: Session) -> None:
    """It tells each request apart, in thousands from 1,000 on."""
    usage = session.usage
    session.usage = Usage(
        input_tokens=(usage.input_tokens or 0) + _number(found[1]),
        output_tokens=(usage.output_tokens or 0) + _number(found[2]),
    )
    cost = amount(float(found[3])) if found[3] and re.fullmatch(r"\d+(\.\d+)?", found[3]) else None
    if cost is not None:
        session.cost_usd = (session.cost_usd or 0.0) + cost


def _number(written: str) -> int:
    digits = written.rstrip("kM").replace(",", "")
    try:
        return round(float(digits) * _UNITS.get(written[-1], 1))
    except ValueError:
        return 0
