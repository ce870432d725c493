"""`turnwise prompt` of a live conversation: what will be sent later, and what answers the model's calls."""

from __future__ import annotations

import json
from pathlib import Path

from helpers import run_turnwise
from run_fixtures import case, project, suite

TOOL = {
    "name": "weather",
    "replies": [{"arguments": {"city": "Oslo"}, "result": {"sky": "rain"}}],
    "reply": {"error": "no station"},
}
LIVE = case(
    "a",
    "Hi",
    turns=[{"user": "And \x1b[31mthen?"}],
    user={"target": "echo", "persona": "A clerk", "goal": "A ticket", "max_turns": 4},
    tools=[TOOL],
    max_tool_rounds=2,
)


def test_turns_and_tools_are_shown_as_what_they_are(tmp_path: Path) -> None:
    """Each turn says after which reply it is sent; tools show their replies; nothing of it controls the terminal."""
    project(tmp_path, s=suite([LIVE]))
    done = run_turnwise("prompt", "s.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for line in (
        "[user] (sent after reply 1)",
        "[user] (played by echo, at most 4 messages, until [[END]])",
        "  persona: A clerk",
        "[tool] weather (answered by the suite, at most 2 rounds a turn)",
        '  {"city": "Oslo"} → {"sky": "rain"}',
        "  any other call → error: no station",
    ):
        assert line in done.stdout.splitlines()
    assert "\x1b" not in done.stdout


def test_the_same_as_data(tmp_path: Path) -> None:
    """`live` holds the turns as they are sent; a case without any of it has no such field."""
    project(tmp_path, s=suite([LIVE, case("b")]))
    done = run_turnwise("prompt", "--format", "json", "s.yaml", cwd=tmp_path)
    live, plain = json.loads(done.stdout)
    assert live["live"]["turns"] == [{"role": "user", "content": "And \x1b[31mthen?"}]
    assert live["live"]["tools"] == [TOOL]
    assert (live["live"]["user"]["goal"], live["live"]["max_tool_rounds"], "live" in plain) == ("A ticket", 2, False)


def test_targets_that_are_nowhere_are_warned_about(tmp_path: Path) -> None:
    """The one who plays the user, and the judge of a turn, each at its line."""
    judge = {"type": "deck", "path": "tone.deck.md", "target": "nobody"}
    project(
        tmp_path, s=suite([case("a", turns=[{"user": "x", "graders": [judge]}], user={"target": "n", "goal": "g"})])
    )
    done = run_turnwise("validate", "--format", "json", "s.yaml", cwd=tmp_path)
    found = {each["path"] for each in json.loads(done.stdout) if each["code"] == "unknown-target"}
    assert found == {"cases[0].user.target", "cases[0].turns[0].graders[0].target"}
