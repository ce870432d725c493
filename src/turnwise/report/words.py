"""Small texts that reports share: counts, times, rates, and what others wrote, made harmless."""

from __future__ import annotations

from .terminal import one_line

__all__ = ["LONGEST_LINE", "OncePerHint", "counted", "duration_text", "failure_text", "rate_text", "shown"]

LONGEST_LINE = 400
_MARKS = {"failed": "✗", "error": "!", "ungraded": "?"}


def counted(count: int, thing: str, things: str | None = None) -> str:
    """A number and what it counts, in the right number.

    >>> counted(1, "result"), counted(2500, "result"), counted(2, "retry", "retries")
    ('1 result', '2,500 results', '2 retries')
    """
    return f"1 {thing}" if count == 1 else f"{count:,} {things or thing + 's'}"


def duration_text(seconds: float) -> str:
    """A time for people.

    >>> [duration_text(each) for each in (0.2, 45, 72.4, 7500)]
    ['<1s', '45s', '1m12s', '2h05m']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s" if whole else "<1s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}m{rest:02}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02}m"


def rate_text(rate: float) -> str:
    """A rate for people: by the minute where less than one a second is done.

    >>> [rate_text(each) for each in (250.4, 12.34, 0.05)]
    ['250/s', '12.3/s', '3.0/min']
    """
    if rate < 1:
        return f"{rate * 60:.1f}/min"
    return f"{rate:.1f}/s" if rate < 100 else f"{rate:.0f}/s"


def shown(text: str, longest: int = LONGEST_LINE) -> str:
    """A text that others wrote, as a part of one line: harmless, and not longer than it may be.

    >>> shown("a\\x1b[2Jb\\tc"), shown("abcdef", 4)
    ('a␛[2Jb c', 'abc…')
    """
    harmless = one_line(text[: longest + 1]).replace("\t", " ")
    return harmless if len(harmless) <= longest else harmless[: longest - 1] + "…"


def failure_text(status: str, case: str, target: str, variant: str | None, trial: int, why: str) -> str:
    """A result that did not pass: mark, case, target and why; not yet harmless.

    >>> failure_text("error", "refund", "gpt", "terse", 2, "timeout: no answer")
    '! refund  gpt/terse#2  timeout: no answer'
    """
    of_variant = f"/{variant}" if variant is not None else ""
    of_trial = f"#{trial}" if trial > 1 else ""
    return f"{_MARKS.get(status, '?')} {case}  {target}{of_variant}{of_trial}  {why}"


class OncePerHint:
    """Gives a line for each hint that was not given before: a hundred results may need the same one.

    >>> hints = OncePerHint()
    >>> hints.line("install it"), hints.line("install it"), hints.line(None)
    (['  hint: install it'], [], [])
    """

    def __init__(self) -> None:
        self._given: set[str] = set()

    def line(self, hint: str | None) -> list[str]:
        """The line, or none."""
        if hint is None or hint in self._given:
            return []
        self._given.add(hint)
        return [f"  hint: {shown(hint)}"]
