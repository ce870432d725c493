"""AgentV v2 suites, translated to ours before they are validated. Their names are known here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..errors import Problem
from .paths import DataPath

__all__ = ["authored_paths", "is_agentv_suite", "translate_suite", "unused_evaluators"]

_NAMES = (("evalcases", "cases"), ("dataset", "name"))
_KINDS = {"llm_judge": "llm_judge", "code": "code", "code_judge": "code"}
_SETTINGS = {"code": {"script": "command"}}
"""What settings of evaluators are called here, by the kind of the grader."""


def is_agentv_suite(raw: Any) -> bool:
    """Whether a suite file is AgentV's."""
    if not isinstance(raw, dict):
        return False
    schema = raw.get("$schema")
    return (isinstance(schema, str) and schema.startswith("agentv-eval")) or "evalcases" in raw


def translate_suite(raw: dict[str, Any]) -> dict[str, Any]:
    """The same suite in our words; what is not understood is left as it is, for the validator to name."""
    suite = dict(raw)
    default_kind = suite.pop("evaluator") if _is_kind(suite.get("evaluator")) else None
    for theirs, ours in _NAMES:
        if theirs in suite and ours not in suite:
            suite[ours] = suite.pop(theirs)
    if "graders" not in suite:
        suite["graders"] = _graders(suite.pop("evaluators", None), default_kind)
    cases = suite.get("cases")
    if isinstance(cases, list):
        suite["cases"] = [_translate_case(case, default_kind) if isinstance(case, dict) else case for case in cases]
    return suite


def authored_paths(raw: dict[str, Any]) -> Callable[[DataPath], DataPath]:
    """A function from a path in the translated suite back to the one in the file."""

    def authored(path: DataPath) -> DataPath:
        match path:
            case ("cases" | "evalcases", int() as index, *rest):
                name = "cases" if "cases" in raw else "evalcases"
                return (name, index, *_authored_in_case(raw[name][index], tuple(rest)))
            case ("graders", *rest) if "graders" not in raw:
                return ("evaluators", *_authored_grader(raw.get("evaluators"), tuple(rest)))
        for theirs, ours in _NAMES:
            if path[:1] == (ours,) and ours not in raw:
                return (theirs, *path[1:])
        return path

    return authored


def unused_evaluators(raw: dict[str, Any]) -> Iterator[Problem]:
    """Cases that ask for programs to grade them, and name none: the suite's evaluators grade them."""
    name = "cases" if "cases" in raw else "evalcases"
    for index, case in enumerate(raw[name] if isinstance(raw.get(name), list) else ()):
        if not isinstance(case, dict) or _KINDS.get(str(case.get("evaluator"))) != "code":
            continue
        execution = case.get("execution")
        if not any(key in each for each in (case, execution or {}) for key in ("evaluators", "graders")):
            message = "`evaluator: code` has no effect: the case has no `evaluators`, and those of the suite grade it"
            hint = "add `evaluators` with a `script`, or remove it"
            yield Problem((name, index, "evaluator"), "unused-evaluator", message, hint)


def _authored_in_case(case: Any, path: DataPath) -> DataPath:
    if not isinstance(case, dict) or not path or path[0] in case:
        return path
    execution = case.get("execution")
    inner = execution if isinstance(execution, dict) else {}
    match path:
        case ("target", *_):
            return ("execution", *path)
        case ("graders", *rest):
            holder, owner = (("execution",), inner) if "evaluators" in inner else ((), case)
            return (*holder, "evaluators", *_authored_grader(owner.get("evaluators"), tuple(rest)))
    return path


def _authored_grader(evaluators: Any, path: DataPath) -> DataPath:
    match path:
        case (int() as index, str() as setting, *rest) if isinstance(evaluators, list):
            return (index, _written_setting(evaluators[index], setting), *rest)
    return path


def _written_setting(evaluator: Any, setting: str) -> str:
    if isinstance(evaluator, dict) and setting not in evaluator:
        for names in _SETTINGS.values():
            for theirs, ours in names.items():
                if ours == setting and theirs in evaluator:
                    return theirs
    return setting


def _translate_case(raw: dict[str, Any], default_kind: Any) -> dict[str, Any]:
    case = dict(raw)
    kind = case.pop("evaluator") if _is_kind(case.get("evaluator")) else default_kind
    evaluators = None if "graders" in case else case.pop("evaluators", None)
    execution = case.get("execution")
    if isinstance(execution, dict):
        execution = dict(execution)
        if "target" in execution and "target" not in case:
            case["target"] = execution.pop("target")
        if "graders" not in case:
            evaluators = execution.pop("evaluators", evaluators)
        if execution:
            case["execution"] = execution
        else:
            del case["execution"]
    if evaluators is not None:
        case["graders"] = _graders(evaluators, kind)
    return case


def _is_kind(value: Any) -> bool:
    return isinstance(value, str) and value in _KINDS


def _graders(evaluators: Any, default_kind: Any) -> Any:
    if evaluators is None:
        return [{"type": _KINDS.get(default_kind, "llm_judge")}]
    if not isinstance(evaluators, list):
        return evaluators
    return [_grader(each, default_kind) if isinstance(each, dict) else each for each in evaluators]


def _grader(evaluator: dict[str, Any], default_kind: Any) -> dict[str, Any]:
    grader = dict(evaluator)
    kind = grader.get("type", default_kind or "llm_judge")
    grader["type"] = _KINDS.get(kind, kind) if isinstance(kind, str) else kind
    for theirs, ours in _SETTINGS.get(grader["type"] if isinstance(kind, str) else "", {}).items():
        if theirs in grader and ours not in grader:
            grader[ours] = grader.pop(theirs)
    if grader["type"] == "llm_judge" and "prompt" in grader:
        grader.setdefault("placeholders", "dollar")
    return grader
