"""Prompts for judges: plain names in `{{ }}` or `${ }`, no expressions, and values that cannot pose as the prompt.

What is filled in stands between marks that hold a key. The key is made of the values, so that none of them can hold
it, and a text that a model wrote cannot end the place that it stands in. Nothing that is filled in is read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from ..errors import Problem
from .base import Submission
from .judge_values import AGENTV_NAMES, NAMES, SHOWS_ANSWER, judge_value

__all__ = ["Form", "JudgePrompt", "fence_key", "fenced", "filled", "material"]

Form = Literal["braces", "dollar"]
"""How a prompt names what is filled in: `{{ answer }}`, or `${answer}` as AgentV has it."""

_PLACEHOLDERS: Mapping[Form, re.Pattern[str]] = {
    "braces": re.compile(r"\{\{([^{}]*)\}\}"),
    "dollar": re.compile(r"\$\{([^{}]*)\}"),
}
_METADATA = re.compile(r"metadata\.\S+")
_KEY_LENGTH = 12
_USUAL = ("question", "reference_answer", "outcome", "answer")
_LONGEST_NAME = 40
_NEARLY = 0.8


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """The words of a prompt, with the names that stand in it."""

    text: str
    form: Form = "braces"

    def names(self) -> tuple[str, ...]:
        """Our names for what is to be filled in, each once.

        >>> JudgePrompt("Is ${candidate_answer} right? ${question}", "dollar").names()
        ('answer', 'question')
        """
        return tuple(
            dict.fromkeys(_ours(match[1].strip(), self.form) for match in self._found() if self._is_ours(match))
        )

    def problems(self) -> list[Problem]:
        """What names nothing that can be filled in.

        >>> JudgePrompt("Is {{ anwser }} right?").problems()[0].message
        'the prompt names `anwser`, which is nothing that a judge can be shown'
        """
        from ..suite.explain import did_you_mean

        theirs = AGENTV_NAMES if self.form == "dollar" else ()
        known = sorted({*NAMES, *theirs, "metadata.NAME"})
        return [
            Problem((), "unknown-placeholder", _unknown(name), did_you_mean(name, known, "a prompt may name"))
            for name in self.names()
            if name not in NAMES and not _METADATA.fullmatch(name)
        ]

    @property
    def shows_answer(self) -> bool:
        """Whether the answer is somewhere in it."""
        return not SHOWS_ANSWER.isdisjoint(self.names())

    def _is_ours(self, match: re.Match[str]) -> bool:
        """AgentV leaves what it does not know as it is: code of other languages has `${NAME}`, too. A name that is
        nearly one of ours is a slip all the same."""
        name = _ours(match[1].strip(), self.form)
        if self.form == "braces" or name in NAMES or _METADATA.fullmatch(name):
            return True
        from difflib import get_close_matches

        return bool(get_close_matches(name, [*NAMES, *AGENTV_NAMES], n=1, cutoff=_NEARLY))

    def _found(self) -> Iterator[re.Match[str]]:
        return _PLACEHOLDERS[self.form].finditer(self.text)


def filled(prompt: JudgePrompt, submission: Submission) -> str:
    """The prompt with its values. One that does not show the answer has the usual material after it.

    >>> print(filled(JudgePrompt("Is {{ answer }} polite?"), Submission(question="Q?", text="{{ question }}")))
    Is <answer 2096c952068d>{{ question }}</answer 2096c952068d> polite?
    """
    values = {name: judge_value(name, submission) for name in prompt.names()}
    usual = {} if prompt.shows_answer else _usual_values(submission)
    key = fence_key([*values.values(), *usual.values(), prompt.text])
    text = _PLACEHOLDERS[prompt.form].sub(lambda match: _block(match, prompt.form, values, key), prompt.text)
    return "\n\n".join([text.strip(), *(fenced(name, value, key) for name, value in usual.items())])


def material(submission: Submission) -> str:
    """What a judge is usually shown: the question, what is known of a good answer, and the answer."""
    values = _usual_values(submission)
    key = fence_key(list(values.values()))
    return "\n\n".join(fenced(name, value, key) for name, value in values.items())


def fenced(name: str, value: str, key: str) -> str:
    """A value between marks that hold the key.

    >>> fenced("answer", "42", "k")
    '<answer k>42</answer k>'
    """
    inner = f"\n{value}\n" if "\n" in value else value
    return f"<{name} {key}>{inner}</{name} {key}>"


def fence_key(values: Sequence[str]) -> str:
    """A short word that none of the values holds: the same for the same values, so that the cache knows the request."""
    seed = "\0".join(values).encode("utf-8", "surrogatepass")
    while True:
        seed = sha256(seed).digest()
        key = seed.hex()[:_KEY_LENGTH]
        if not any(key in value for value in values):
            return key


def _usual_values(submission: Submission) -> dict[str, str]:
    values = {name: judge_value(name, submission) for name in _USUAL}
    return {name: value for name, value in values.items() if value or name in ("question", "answer")}


def _block(match: re.Match[str], form: Form, values: Mapping[str, str], key: str) -> str:
    name = _ours(match[1].strip(), form)
    return fenced(name, values[name], key) if name in values else match[0]


def _ours(name: str, form: Form) -> str:
    return AGENTV_NAMES.get(name, name) if form == "dollar" else name


def _unknown(name: str) -> str:
    if not name:
        return "the prompt has a placeholder without a name"
    return f"the prompt names `{name[:_LONGEST_NAME]}`, which is nothing that a judge can be shown"
