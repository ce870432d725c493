"""`tools` and `output_schema`: what goes beside a conversation, from the suite or the case."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnwise import SuiteError, load_suite

SUITE = """
tools:
  - {name: find, description: Finds things., parameters: {type: object, properties: {q: {type: string}}}}
output_schema: {type: object}
input_messages: [{role: user, content: Hi}]
cases:
  - id: inherits
  - id: own
    tools: [{type: function, function: {name: get}}]
    output_schema: {type: string}
  - id: none
    tools: []
"""


def test_a_case_has_its_own_or_its_suites(tmp_path: Path) -> None:
    """A case's tools and schema replace the suite's; an empty list is a choice; OpenAI's wrapped form is read too."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    inherits, own, none = load_suite(tmp_path / "suite.yaml").cases
    assert [(tool.name, tool.description) for tool in inherits.tools] == [("find", "Finds things.")]
    assert inherits.output_schema == {"type": "object"}
    assert [(tool.name, tool.parameters) for tool in own.tools] == [("get", None)]
    assert own.output_schema == {"type": "string"}
    assert list(none.tools) == []
    assert none.output_schema == {"type": "object"}


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("{name: find, paramaters: {}}", "unknown key `paramaters`"),
        ("{description: Finds.}", "`name` is missing"),
        ("{type: function, function: {name: ''}}", "must not be empty"),
        ("find", "must be a mapping"),
    ],
)
def test_a_tool_that_is_not_well_formed_is_named(tmp_path: Path, tool: str, said: str) -> None:
    """Mistakes in tools are found with their place, in either form."""
    (tmp_path / "suite.yaml").write_text(
        f"tools:\n  - {tool}\ncases:\n  - {{id: a, input_messages: [{{role: user, content: Hi}}]}}\n"
    )
    with pytest.raises(SuiteError) as caught:
        load_suite(tmp_path / "suite.yaml")
    (diagnostic,) = caught.value.diagnostics
    assert said in diagnostic.message, diagnostic.message
    assert diagnostic.place.line == 2
