"""Settings of targets that leave answers as they are: what may change while a cached answer, a run that is resumed, or
a calibration still holds."""

from __future__ import annotations

__all__ = ["CHANGES_NO_ANSWER"]

# Whatever is not named here is taken to change answers: a needless question is better than a wrong answer.
CHANGES_NO_ANSWER = frozenset(
    {
        "api_key", "description", "entra_token", "judge_target", "keep_workspaces", "log_dir", "max_retries",
        "prices", "requests_per_minute", "retry_factor", "retry_initial_delay", "retry_max_delay",
        "retry_statuses", "timeout", "tokens_per_minute", "workers",
    }
)  # fmt: skip
"""The settings of a target that leave its answers as they are."""
