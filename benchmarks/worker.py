"""One measurement in a process of its own: `python worker.py reference|convert FILE`.

Prints a JSON object: the seconds that the work took after all imports, and what came out of it, so that the caller
can tell that the same work was done.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter


def parse_with_pyyaml(path: Path) -> dict[str, float]:
    """The reference: PyYAML's C loader and nothing else."""
    import yaml

    start = perf_counter()
    with open(path, encoding="utf-8") as file:
        data = yaml.load(file, Loader=yaml.CSafeLoader)
    return {"seconds": perf_counter() - start, "cases": len(data["cases"])}


def convert(path: Path) -> dict[str, float]:
    """Load, validate and convert every case to both views."""
    from turnwise import load_suite

    cases = characters = 0
    start = perf_counter()
    suite = load_suite(path)
    default = suite.project.config.default_system_prompt
    for case in suite.cases:
        conversation = case.conversation
        cases += len(conversation.chat_prompt(default_system_prompt=default)) > 0
        characters += len(conversation.transcript())
    return {"seconds": perf_counter() - start, "cases": cases, "characters": characters}


def main() -> None:
    """Run what was asked for."""
    job, path = sys.argv[1], Path(sys.argv[2])
    print(json.dumps({"reference": parse_with_pyyaml, "convert": convert}[job](path)))


if __name__ == "__main__":
    main()
