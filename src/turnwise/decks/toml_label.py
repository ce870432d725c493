"""A label into a TOML text of samples, with everything else in it kept, comments too.

The forms that people write are many; so what comes out is a proposal, which the caller reads back and compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..suite.paths import DataPath
from .sample import HumanLabel, Sample
from .sample_record import label_record
from .text_edits import Edit, edited, end_of_line, line_before, line_end_of
from .toml_scan import scan_toml
from .toml_text import toml_key, toml_pair, toml_value

__all__ = ["toml_proposals"]

_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}' r"|'''(?:[^']|'(?!''))*'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'", re.DOTALL
)
_NEXT = re.compile(r"[\[\]{}\"'#]")
_SCALAR = re.compile(r"[^\s,\]}#]+")
_HEADER = re.compile(r"\[\[[^\n]*?\]\]")


def toml_proposals(text: str, sample: Sample, label: HumanLabel) -> Iterator[str]:
    """The text with the label, in each way that may be right; the likeliest first."""
    editor = _Editor(text, sample.path)
    return editor.with_expected(label) if label.rater is None else editor.with_label(sample, label)


class _Editor:
    def __init__(self, text: str, path: DataPath) -> None:
        self.text = text
        self.path = path
        self.places = scan_toml(text)
        self.line_end = line_end_of(text)

    def with_expected(self, label: HumanLabel) -> Iterator[str]:
        expected, score = (*self.path, "expected"), (*self.path, "score")
        record = label_record(label)
        if score in self.places and expected in self.places:
            yield self._edited([self._without(score), self._new_value(expected, record)])
        elif score in self.places:
            key, value = self.places[score]
            is_short = list(record) == ["score"]
            pair = toml_pair("score", label.score) if is_short else toml_pair("expected", record)
            yield self._edited([Edit(key, self._end(value), pair)])
        elif self._is_pair(expected):
            yield self._edited([self._new_value(expected, record)])
        elif expected in self.places:
            yield self._with_pairs(expected, label)
        else:
            yield from self._with_key(toml_pair("expected", record))

    def with_label(self, sample: Sample, label: HumanLabel) -> Iterator[str]:
        labels = (*self.path, "labels")
        raters = [each.rater for each in sample.labels]
        index = raters.index(label.rater) if label.rater in raters else None
        record = label_record(label)
        if labels not in self.places:
            yield from self._with_key(toml_pair("labels", [record]))
        elif not raters:
            start = self.places[labels][1] + 1  # behind the bracket: the empty list may hold comments
            yield self._edited([Edit(start, start, toml_value(record))])
        elif not self._is_pair(labels):
            last = (*labels, len(raters) - 1)
            yield self._with_table(last, record) if index is None else self._with_pairs((*labels, index), label)
        elif index is not None:
            yield self._edited([self._new_value((*labels, index), record)])
        else:
            yield self._with_item((*labels, len(raters) - 1), record)

    def _edited(self, edits: list[Edit]) -> str:
        return edited(self.text, edits)

    def _is_pair(self, path: DataPath) -> bool:
        """Whether it is written as `key = value`; the place of a table is its header."""
        key, value = self.places.get(path, (0, 0))
        return key < value and self.text[key:value].rstrip().endswith("=")

    def _end(self, start: int) -> int:
        """Where the value that starts there ends."""
        text, depth, position = self.text, 0, start
        if text[start] not in "[{":
            match = _STRING.match(text, start) or _SCALAR.match(text, start)
            return match.end() if match else start
        while (found := _NEXT.search(text, position)) is not None:
            position = found.end()
            if found[0] in "\"'":
                string = _STRING.match(text, found.start())
                position = string.end() if string else position
            elif found[0] == "#":
                position = end_of_line(text, position)
            else:
                depth += 1 if found[0] in "[{" else -1
                if depth == 0:
                    return position
        return len(text)

    def _new_value(self, path: DataPath, value: object) -> Edit:
        start = self.places[path][1]
        return Edit(start, self._end(start), toml_value(value))

    def _without(self, path: DataPath) -> Edit:
        """A pair is taken out; what follows in its line stays."""
        key, value = self.places[path]
        return Edit(key - len(line_before(self.text, key)), self._end(value), "")

    def _with_pairs(self, table: DataPath, label: HumanLabel) -> str:
        """The label in a table that has lines of its own for value and reason."""
        record = label_record(label)
        name = "score" if "score" in record else "label"
        old = next(((*table, each) for each in ("score", "label") if (*table, each) in self.places), None)
        reason = (*table, "reason")
        new = toml_pair(name, record[name])
        if old is None:
            end = end_of_line(self.text, self.places[table][1])
            edits = [Edit(end, end, self.line_end + new)]
            before = ""
        else:
            key, value = self.places[old]
            before = line_before(self.text, key)
            edits = [Edit(key, self._end(value), new)]
        if reason in self.places:
            edits.append(self._new_value(reason, label.reason) if label.reason is not None else self._without(reason))
        elif label.reason is not None:
            more = f"{self.line_end}{before}{toml_pair('reason', label.reason)}"
            edits[0] = edits[0]._replace(new=edits[0].new + more)
        return self._edited(edits)

    def _with_item(self, last: DataPath, record: dict[str, object]) -> str:
        """One more item in a list, on a line of its own if the last one has one."""
        start = self.places[last][1]
        before = line_before(self.text, start)
        between = f",{self.line_end}{before}" if not before.strip() else ", "
        end = self._end(start)
        return self._edited([Edit(end, end, between + toml_value(record))])

    def _with_table(self, last: DataPath, record: dict[str, object]) -> str:
        """One more `[[samples.labels]]` after the last one."""
        header = _HEADER.match(self.text, self.places[last][1])
        values = [self.places[path][1] for path in self.places if path[:-1] == last]
        end = end_of_line(self.text, max(map(self._end, values)))
        lines = ["", "", header[0] if header else "", *(toml_pair(*pair) for pair in record.items())]
        return self._edited([Edit(end, end, self.line_end.join(lines))])

    def _with_key(self, pair: str) -> Iterator[str]:
        """One more key for the sample: after its messages, or under its header, or under a header of its own."""
        start = self.places[self.path][1]
        messages = (*self.path, "messages")
        if self.text[start] == "{":
            yield self._edited([Edit(start + 1, start + 1, f" {pair},")])
        elif self._is_pair(messages):
            key, value = self.places[messages]
            end = end_of_line(self.text, self._end(value))
            yield self._edited([Edit(end, end, self.line_end + line_before(self.text, key) + pair)])
        else:
            end = end_of_line(self.text, start)
            yield self._edited([Edit(end, end, self.line_end + pair)])
            header = f"[{'.'.join(toml_key(str(step)) for step in self.path)}]"
            yield self._edited([Edit(start, start, f"{header}{self.line_end}{pair}{self.line_end * 2}")])
