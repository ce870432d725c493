"""A label into a YAML text of samples, with everything else in it kept, comments too.

As with TOML, what comes out is a proposal, which the caller reads back and compares; there may be none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..suite.paths import DataPath
from .sample import HumanLabel, Sample
from .sample_record import label_record
from .text_edits import Edit, edited, line_end_of
from .yaml_text import yaml_value

__all__ = ["yaml_proposals"]

_QUOTED = re.compile(r'(?<=: )"(?:[^"\\]|\\.)*"', re.DOTALL)
_COMMENT = re.compile(r"(?:^|\s)#")


def yaml_proposals(text: str, sample: Sample, label: HumanLabel) -> Iterator[str]:
    """The text with the label, in each way that may be right."""
    node = _node(_root(text), sample.path)
    if node is None:
        return
    pairs = {key.value: (key, value) for key, value in node.value}
    name = "expected" if label.rater is None else "labels"
    if name in pairs:
        edits = _changed(text, pairs[name][1], sample, label)
    elif label.rater is None and "score" in pairs:
        key, value = pairs["score"]
        edits = [Edit(_start(key), _end(value), f"expected: {yaml_value(label_record(label))}")]
    elif "messages" in pairs:
        record = label_record(label)
        edits = [_new_key(text, node, pairs["messages"][0], name, record if name == "expected" else [record])]
    else:
        return
    if not any(_COMMENT.search(_QUOTED.sub("", text[edit.start : edit.end])) for edit in edits):
        yield edited(text, edits)


def _root(text: str) -> Any:
    import yaml

    from ..suite.yaml_reader import YamlLoader, shield_breaks

    try:
        return yaml.compose(shield_breaks(text)[0], Loader=YamlLoader)
    except yaml.YAMLError:  # JSON that is indented by tabs
        return None


def _node(node: Any, path: DataPath) -> Any:
    """The mapping at the path, without a way through merged keys: what they hold belongs to others too."""
    for step in path if node is not None else ():
        if isinstance(step, int):
            node = node.value[step] if isinstance(node.value, list) and step < len(node.value) else None
        else:
            node = next((value for key, value in node.value if key.value == step), None)
        if node is None or not isinstance(node.value, list):
            return None
    return node


def _start(node: Any) -> int:
    return int(node.start_mark.index)


def _end(node: Any) -> int:
    """The end of what is written: libyaml lets blocks end where the next thing begins."""
    if isinstance(node.value, list) and node.value and not node.flow_style:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _new_key(text: str, node: Any, before: Any, name: str, value: Any) -> Edit:
    """One more pair, before a key of the sample."""
    gap = ", " if node.flow_style else line_end_of(text) + " " * int(before.start_mark.column)
    return Edit(_start(before), _start(before), f"{name}: {yaml_value(value)}{gap}")


def _changed(text: str, node: Any, sample: Sample, label: HumanLabel) -> list[Edit]:
    if label.rater is None:
        return [_replaced(node, label_record(label))]
    raters = [each.rater for each in sample.labels]
    record = {"rater": label.rater} | label_record(label)
    if label.rater in raters:
        return [_replaced(node.value[raters.index(label.rater)], record)]
    if not raters:
        return [_replaced(node, [record])]
    end = _end(node.value[-1])
    gap = ", " if node.flow_style else f"{line_end_of(text)}{' ' * int(node.start_mark.column)}- "
    return [Edit(end, end, gap + yaml_value(record))]


def _replaced(node: Any, value: Any) -> Edit:
    start, end = _start(node), _end(node)
    # Nothing at all stands for null, right behind the colon.
    return Edit(start, end, f"{' ' if start == end else ''}{yaml_value(value)}")
