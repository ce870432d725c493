"""The program of the worker process: it reads a job a line from its input, and answers with a line.

Run by path, with nothing of Turnwise imported: it starts fast, and it can be ended at any moment without harm.
"""

from __future__ import annotations

import json
import re
import signal
import sys
from typing import Any

__all__ = ["answer"]

_MOST_ERRORS = 5
_LONGEST_TEXT = 200


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Do one job. `failed` in the answer says why it could not be done.

    >>> answer({"do": "search", "pattern": "b+", "text": "abbc", "case_sensitive": True})
    {'found': [1, 3, 'bb']}
    """
    try:
        match job["do"]:
            case "search":
                return {"found": _search(job)}
            case "schema":
                return _schema_errors(job)
            case _:
                sys.path[:] = job["path"]
                return {}
    except (ArithmeticError, ImportError, MemoryError, RecursionError, ValueError, re.error) as error:
        return {"failed": f"{type(error).__name__}: {error}"[:_LONGEST_TEXT]}


def _search(job: dict[str, Any]) -> list[Any] | None:
    match = re.search(job["pattern"], job["text"], 0 if job["case_sensitive"] else re.IGNORECASE)
    return None if match is None else [match.start(), match.end(), match.group()[:_LONGEST_TEXT]]


def _schema_errors(job: dict[str, Any]) -> dict[str, Any]:
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import EMPTY_REGISTRY

    schema = job["schema"]
    # With a registry of our own, nothing that a schema refers to is ever downloaded.
    validator = validator_for(schema, default=Draft202012Validator)(schema, registry=EMPTY_REGISTRY)
    errors = []
    try:
        for error in validator.iter_errors(json.loads(job["text"])):
            errors.append([error.json_path[:_LONGEST_TEXT], error.message[:_LONGEST_TEXT]])
            if len(errors) == _MOST_ERRORS:
                break
    except Unresolvable as error:
        return {"failed": f"the schema refers to what it does not hold: {error}"[:_LONGEST_TEXT]}
    return {"errors": errors}


def _serve() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        if hasattr(signal, "setitimer"):
            # If nobody is left to end this process, the system does.
            signal.setitimer(signal.ITIMER_REAL, job["seconds"] + 1)
        sys.stdout.write(json.dumps(answer(job)) + "\n")
        sys.stdout.flush()
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    _serve()
