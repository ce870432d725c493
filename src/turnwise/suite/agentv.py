"""AgentV v2 suites, translated to ours before they are validated. Their names are known here and nowhere else."""

from __future__ import annotations

from typing import Any

from .sources import DataPath

__all__ = ["authored_path", "is_agentv_suite", "translate_suite"]

_KINDS = {"llm_judge": "llm_judge", "code": "code", "code_judge": "code"}


def is_agentv_suite(raw: Any) -> bool:
    """Whether a suite file is AgentV's."""
    if not isinstance(raw, dict):
        return False
    schema = raw.get("$schema")
    return (isinstance(schema, str) and schema.startswith("agentv-eval")) or "evalcases" in raw


def translate_suite(raw: dict[str, Any]) -> dict[str, Any]:
    """The same suite in our words; what is not understood is left as it is, for the validator to name."""
    suite = dict(raw)
    default_kind = suite.pop("evaluator", None)
    if "evalcases" in suite:
        suite["cases"] = suite.pop("evalcases")
    if "dataset" in suite:
        suite["name"] = suite.pop("dataset")
    evaluators = suite.pop("evaluators", None)
    suite["graders"] = _graders(evaluators, default_kind)
    cases = suite.get("cases")
    if isinstance(cases, list):
        suite["cases"] = [_translate_case(case, default_kind) if isinstance(case, dict) else case for case in cases]
    return suite


def authored_path(path: DataPath) -> DataPath:
    """From a path in the translated suite back to the one in the file."""
    match path:
        case ("cases", int() as index, "graders", *rest):
            return ("evalcases", index, "execution", "evaluators", *rest)
        case ("cases", int() as index, "target", *rest):
            return ("evalcases", index, "execution", "target", *rest)
        case ("cases", *rest):
            return ("evalcases", *rest)
        case ("name", *rest):
            return ("dataset", *rest)
    return path


def _translate_case(raw: dict[str, Any], default_kind: Any) -> dict[str, Any]:
    case = dict(raw)
    kind = case.pop("evaluator", default_kind)
    evaluators = case.pop("evaluators", None)
    execution = case.get("execution")
    if isinstance(execution, dict):
        execution = dict(execution)
        if "target" in execution:
            case["target"] = execution.pop("target")
        evaluators = execution.pop("evaluators", evaluators)
        if execution:
            case["execution"] = execution
        else:
            del case["execution"]
    if evaluators is not None:
        case["graders"] = _graders(evaluators, kind)
    return case


def _graders(evaluators: Any, default_kind: Any) -> Any:
    if evaluators is None:
        return [{"type": "llm_judge"}]
    if not isinstance(evaluators, list):
        return evaluators
    return [_grader(each, default_kind) if isinstance(each, dict) else each for each in evaluators]


def _grader(evaluator: dict[str, Any], default_kind: Any) -> dict[str, Any]:
    grader = dict(evaluator)
    kind = grader.get("type", default_kind or "llm_judge")
    grader["type"] = _KINDS.get(kind, kind)
    if grader["type"] == "code" and "script" in grader:
        grader["command"] = grader.pop("script")
    return grader
