"""Makes suites of support conversations from a seed: the same cases as YAML and as JSONL, and larger JSONL files.

Run as a script, it writes them all into a folder: `python generate.py FOLDER [--huge]`.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

__all__ = ["CASES", "HUGE_BYTES", "Files", "sentence", "write_files"]

CASES = 5_000
HUGE_BYTES = 1_000_000_000
_SEED = 20_011

_SUBJECTS = (
    "The invoice", "My order", "Our licence", "The export", "This report", "The dashboard", "Your last answer",
    "The nightly job", "A colleague", "The second attachment", "The update", "The billing page",
)  # fmt: skip
_VERBS = (
    "does not match", "arrived before", "was replaced by", "still depends on", "is not about", "mentions",
    "came with", "should come after", "breaks", "explains", "is missing from", "was paid with",
)  # fmt: skip
_OBJECTS = (
    "the annual plan", "our call", "the old account", "last week's version", "the parcel", "the listed price",
    "our contract", "three seats", "the café order", "the naïve default", "the “final” draft", "a refund",
)  # fmt: skip
_ENDINGS = (".", ".", ".", "?", ", and I wonder why.", " since Monday.", ", or so it seems.")
_TAGS = ("billing", "refund", "shipping", "export", "accounts", "tone", "long", "regression")
_TOOLS = ("find_order", "find_invoice", "list_plans", "open_ticket")
_CODE = (
    "def total(rows):\n    return sum(row.price for row in rows)\n",
    "SELECT id, price\n  FROM orders\n WHERE paid = 'no'\n",
    "# Steps\n\n1. Open the page\n2. Press *export*\n3. Wait: nothing happens",
    "Error: E-1042\n  at line 12 of import.csv\n\n  expected: 7 columns",
)
_QUOTED = (
    'She wrote: "no refund", and left.\tThat was all.', "C:\\exports\\2024 #3: not there", "- yes\n- no",
    "It's 100% broken: see \"E-1042\".", "{not: json}", "Price: 12,50 € — “net”", "@support: hello",
)  # fmt: skip


class Files:
    """Where everything is in the folder."""

    def __init__(self, folder: Path) -> None:
        self.yaml = folder / "suite.yaml"
        self.jsonl = folder / "cases.jsonl"
        self.jsonl_10k = folder / "cases-10k.jsonl"
        self.jsonl_100k = folder / "cases-100k.jsonl"
        self.jsonl_huge = folder / "cases-huge.jsonl"


def write_files(folder: Path, *, huge: bool = False) -> Files:
    """Write the suites; the large ones repeat the cases of the small one under new ids."""
    files = Files(folder)
    cases = _Author(random.Random(_SEED)).cases(CASES)
    _write_yaml(files.yaml, cases)
    lines = [json.dumps(case, ensure_ascii=False) for case in cases]
    files.jsonl.write_text("\n".join(lines) + "\n", encoding="utf-8")
    bodies = [line[line.index(", ") :].encode() + b"\n" for line in lines]
    _write_repeated(files.jsonl_10k, bodies, cases=10_000)
    _write_repeated(files.jsonl_100k, bodies, cases=100_000)
    if huge:
        _write_repeated(files.jsonl_huge, bodies, size=HUGE_BYTES)
    return files


def _write_repeated(path: Path, bodies: Sequence[bytes], *, cases: int | None = None, size: int = 0) -> None:
    """`bodies` are cases without their ids; stops after so many cases, or else when the file has its size."""
    number = written = 0
    with open(path, "wb") as file:
        while number < cases if cases is not None else written < size:
            line = b'{"id": "case-%08d"%s' % (number, bodies[number % len(bodies)])
            written += file.write(line)
            number += 1


class _Author:
    """Writes cases, one after the other, out of one stream of random numbers."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._calls = 0

    def cases(self, count: int) -> list[dict[str, Any]]:
        return [self._case(index) for index in range(count)]

    def _case(self, index: int) -> dict[str, Any]:
        rng = self._rng
        tag = rng.choice(_TAGS)
        case: dict[str, Any] = {"id": f"{tag}-{index:05d}"}
        if rng.random() < 0.3:
            case["conversation_id"] = f"ticket-{rng.randrange(10_000)}"
        case["outcome"] = self._sentence()
        if rng.random() < 0.5:
            case["tags"] = sorted({tag, rng.choice(_TAGS)})
        case["input_messages"] = self._messages(at_least=rng.randint(4, 9))
        if rng.random() < 0.6:
            case["expected_messages"] = [{"role": "assistant", "content": self._text()}]
        if rng.random() < 0.1:
            case["metadata"] = {"priority": rng.randint(1, 5), "source": "import"}
        return case

    def _messages(self, at_least: int) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        if self._rng.random() < 0.4:
            messages.append({"role": "system", "content": self._text()})
        if self._rng.random() < 0.06:
            messages += [self._user(), *self._tool_call()]
        while True:
            messages.append(self._user())
            if len(messages) >= at_least:
                return messages
            messages.append({"role": "assistant", "content": self._text()})

    def _user(self) -> dict[str, Any]:
        return {"role": "user", "content": self._segments() if self._rng.random() < 0.15 else self._text()}

    def _segments(self) -> list[Any]:
        return [self._sentence(), *({"type": "text", "value": self._text()} for _ in range(self._rng.randint(1, 2)))]

    def _tool_call(self) -> list[dict[str, Any]]:
        self._calls += 1
        call_id = f"call-{self._calls}"
        arguments = json.dumps({"number": self._rng.randrange(10_000), "open": True})
        function = {"name": self._rng.choice(_TOOLS), "arguments": arguments}
        return [
            {
                "role": "assistant",
                "content": self._sentence(),
                "tool_calls": [{"id": call_id, "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": call_id, "content": '{"found": 1, "state": "paid"}'},
        ]

    def _text(self) -> str:
        rng, kind = self._rng, self._rng.random()
        if kind < 0.08:
            return f"{self._sentence()}\n\n{rng.choice(_CODE)}"
        if kind < 0.16:
            return rng.choice(_QUOTED)
        return " ".join(self._sentence() for _ in range(1 if kind < 0.85 else rng.randint(2, 4)))

    def _sentence(self) -> str:
        return sentence(self._rng)


def sentence(rng: random.Random) -> str:
    """A sentence of the kind that people write to a support desk."""
    return f"{rng.choice(_SUBJECTS)} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)}{rng.choice(_ENDINGS)}"


def _write_yaml(path: Path, cases: Sequence[dict[str, Any]]) -> None:
    header = "name: benchmark\ndescription: Conversations of a support desk, made from a seed.\n\ncases:\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(header)
        file.writelines("\n".join(_sequence_item(case, 2)) + "\n" for case in cases)


def _sequence_item(value: Any, indent: int) -> Iterator[str]:
    """The lines of one `- …` entry, in the styles that people use."""
    pad = " " * indent
    if isinstance(value, dict):
        lines = [line for key, item in value.items() for line in _pair(key, item, indent + 2)]
        yield f"{pad}- {lines[0].lstrip(' ')}"
        yield from lines[1:]
    else:
        yield from _scalar(f"{pad}- ", value, indent + 2)


def _pair(key: str, value: Any, indent: int) -> Iterator[str]:
    pad = " " * indent
    if key == "tags":
        yield f"{pad}{key}: [{', '.join(value)}]"
    elif isinstance(value, dict):
        yield f"{pad}{key}:"
        for name, item in value.items():
            yield from _pair(name, item, indent + 2)
    elif isinstance(value, list):
        yield f"{pad}{key}:"
        for item in value:
            yield from _sequence_item(item, indent + 2)
    else:
        yield from _scalar(f"{pad}{key}: ", value, indent + 2)


def _scalar(start: str, value: Any, indent: int) -> Iterator[str]:
    if not isinstance(value, str):
        yield start + json.dumps(value)
    elif value in _QUOTED:
        yield start + json.dumps(value, ensure_ascii=False)
    elif value.startswith("{"):
        yield f"{start}'{value}'"
    elif "\n" in value:
        yield start + ("|" if value.endswith("\n") else "|-")
        yield from (" " * indent + line if line else "" for line in value.removesuffix("\n").split("\n"))
    elif len(value) > 110:
        yield f"{start}>-"
        yield from (" " * indent + line for line in _wrapped(value))
    else:
        yield start + value


def _wrapped(text: str) -> Iterator[str]:
    line = ""
    for word in text.split(" "):
        if line and len(line) + len(word) > 90:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def main() -> None:
    """Write the files into the folder that was named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--huge", action="store_true", help="also a JSONL file of 1 GB")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    write_files(arguments.folder, huge=arguments.huge)


if __name__ == "__main__":
    main()
