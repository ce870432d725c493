"""A stub of the `code` command: a real program that plays VS Code and its agent, told by variables how to behave.

`VSCODE_STUB` is a folder: `calls.jsonl` in it holds every call, `open` the names of the
windows. `VSCODE_STUB_DOES` is what it does:

- `answer` (or nothing): open windows, wake up, and answer each request with its own words in capitals;
- `fail`: `chat` ends with exit code 3 and a complaint; `fail-open`: so does opening a window;
- `hang`: `chat` never ends; `never`: it ends, but no answer comes; `asleep`: not even the wake-up is answered;
- `no-rename`: the answer is written, and not renamed; `empty`, `binary`, `link`: what is renamed is no answer;
- `edit`: it also changes files in its folder; `half`: every second request of a batch has no answer.

`VSCODE_STUB_SECONDS` is how long an answer takes, `VSCODE_STUB_WAKE` how long waking up does.
It is started often, so it imports little.
"""

from __future__ import annotations

import json
import os
import sys
import time

__all__ = ["calls", "chats", "install", "main"]

_WRITE = "Write your whole answer to the file: "
_RENAME = "Then rename it to: "


def install(folder: str | os.PathLike[str], name: str = "code") -> str:
    """Put the command into a folder; its path. It names its own interpreter."""
    import shlex

    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    script = shlex.join([sys.executable, "-I", "-S", os.path.abspath(__file__)])
    _write(path, f'#!/bin/sh\nexec {script} "$@"\n')
    os.chmod(path, 0o755)
    return path


def calls(state: str | os.PathLike[str]) -> list[list[str]]:
    """The arguments of every call so far."""
    return [json.loads(line) for line in _lines(os.path.join(state, "calls.jsonl"))]


def chats(state: str | os.PathLike[str]) -> list[list[str]]:
    """The arguments of every chat that was no wake-up."""
    return [each for each in calls(state) if each[:2] == ["-r", "chat"] and "-a" in each]


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _write(path: str, text: str, how: str = "w") -> None:
    with open(path, how, encoding="utf-8") as file:
        file.write(text)


def _lines(path: str) -> list[str]:
    return _read(path).splitlines() if os.path.exists(path) else []


def _complain(text: str) -> int:
    sys.stderr.write(f"code: {text}\n")
    return 3


def _open(state: str, workspace: str) -> int:
    if not os.path.isfile(workspace):
        return _complain(f"no workspace {workspace}")
    json.loads(_read(workspace))
    _write(os.path.join(state, "front"), workspace)
    name = os.path.basename(workspace).partition(".")[0]
    if name not in _lines(os.path.join(state, "open")):
        _write(os.path.join(state, "open"), f"{name}\n", "a")
    return 0


def _chat(state: str, arguments: list[str], does: str) -> int:
    if does == "fail":
        return _complain("the chat is not available")
    if does == "hang":
        time.sleep(3600)
    files = [arguments[index + 1] for index, word in enumerate(arguments) if word == "-a"]
    missing = [file for file in files if not os.path.isfile(file)]
    if missing:
        return _complain(f"no file {missing[0]}")
    front = os.path.dirname(_read(os.path.join(state, "front")))
    # The agent works beside the command, which ends at once.
    if os.fork() == 0:
        os.setsid()
        _agent(arguments[-1], files[-1] if files else None, does, front)
    return 0


def _agent(prompt: str, request: str | None, does: str, front: str) -> None:
    if request is None:
        if does != "asleep":
            time.sleep(float(os.environ.get("VSCODE_STUB_WAKE", "0")))
            _answer(prompt, "ready", "answer")
        return
    time.sleep(float(os.environ.get("VSCODE_STUB_SECONDS", "0")))
    text = _read(request)
    if does == "edit":
        _write(os.path.join(front, "made.txt"), "made here\n")
        _write(os.path.join(front, "files", "note.md"), "changed\n")
    listed = [line[2:] for line in text.splitlines() if line.startswith("- ") and line.endswith("_req.md")]
    for number, each in enumerate([_read(path) for path in listed] or [text]):
        if does != "never" and not (does == "half" and number % 2):
            question = each.partition("\n\n---\n\n")[0]
            _answer(each, f"{question.upper()}\n{os.path.basename(front)}", does)


def _answer(request: str, text: str, does: str) -> None:
    unfinished, answer = _named(request, _WRITE), _named(request, _RENAME)
    if not os.path.isdir(os.path.dirname(unfinished)):
        return  # the request is gone
    if does == "link":
        os.symlink("/etc/hostname", unfinished)
    else:
        with open(unfinished, "wb") as file:
            file.write({"empty": b" \n", "binary": b"\xff\xfe\x00"}.get(does, text.encode()))
    if does != "no-rename":
        os.rename(unfinished, answer)


def _named(request: str, words: str) -> str:
    """The path on the line that begins with the words."""
    (line,) = [line for line in request.splitlines() if line.startswith(words)]
    return line.removeprefix(words)


def main(arguments: list[str]) -> int:
    """Do what the arguments say, as `code` would; the exit code."""
    state, does = os.environ["VSCODE_STUB"], os.environ.get("VSCODE_STUB_DOES", "answer")
    _write(os.path.join(state, "calls.jsonl"), json.dumps(arguments) + "\n", "a")
    if arguments == ["--version"]:
        sys.stdout.write("1.139.1\n0123456789abcdef\nx64\n")
        return 0
    if arguments == ["--status"]:
        for name in _lines(os.path.join(state, "open")):
            sys.stdout.write(f"|  Window ({name} (Workspace) - Visual Studio Code)\n")
        return 0
    if arguments[:2] == ["-r", "chat"]:
        return _chat(state, arguments[2:], does)
    return _complain("no window") if does == "fail-open" else _open(state, arguments[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
