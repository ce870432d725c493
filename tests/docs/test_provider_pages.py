"""The pages about providers are true: targets load, tables say what the code does, and nothing is left out."""

from __future__ import annotations

import ast
import asyncio
import json
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import turnwise.errors as errors
from helpers import ROOT
from turnwise.errors import PromptError, ProviderError
from turnwise.providers import ProviderRequest, Providers, Settings, open_provider
from turnwise.providers.wire.base import WireRequest
from turnwise.targets.format import Target
from turnwise.targets.load import load_targets
from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import full_settings, resolve_target
from turnwise.targets.settings import TargetBase
from turnwise.targets.variables import references

DOCS = ROOT / "docs"
WIRE = ROOT / "src" / "turnwise" / "providers" / "wire"
REWRITES = DOCS / "concepts" / "rewrites.md"
OWN_PROVIDER = DOCS / "guides" / "your-own-provider.md"
ASKED = [name for name, model in PROVIDERS.items() if not model.__module__.endswith(".agents")]
APIS = {
    "Chat Completions": "openai",
    "Responses": "responses",
    "Messages": "anthropic",
    "Gemini": "gemini",
    "Converse": "bedrock",
}

_BLOCK = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[list[str], str]]:
    """The fenced blocks of a page: the words after the fence, and the text."""
    return [(match["info"].split(), match["text"]) for match in _BLOCK.finditer(page.read_text(encoding="utf-8"))]


def tables(page: Path, first_column: str) -> dict[str, dict[str, str]]:
    """The table whose first column is called so: the row's name, without its link, to its cells."""
    lines = iter(page.read_text(encoding="utf-8").splitlines())
    header = next(line for line in lines if line.startswith(f"| {first_column} |"))
    names = _cells(header)[1:]
    next(lines)
    rows: dict[str, dict[str, str]] = {}
    for line in lines:
        if not line.startswith("|"):
            break
        row, *cells = _cells(line)
        rows[re.sub(r"\[?`?([^`\]]+)`?(\]\(.*\))?", r"\1", row)] = dict(zip(names, cells, strict=True))
    return rows


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def headings(page: Path) -> set[str]:
    return set(re.findall(r"^### (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE))


def first_arguments(*functions: str) -> Iterator[str]:
    """The first arguments, where they are texts, of all calls of these functions in the wire modules."""
    for path in WIRE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in functions and node.args:
                argument = node.args[0]
                assert isinstance(argument, ast.Constant), f"{path}:{node.lineno}: a name that cannot be read"
                yield str(argument.value)


def test_every_provider_has_its_page() -> None:
    """docs/providers holds one page for each provider that is no agent, and the index."""
    assert {page.stem for page in (DOCS / "providers").glob("*.md")} == {*ASKED, "index"}


@pytest.mark.parametrize("provider", ASKED)
def test_the_targets_of_a_page_can_be_asked(provider: str, tmp_path: Path) -> None:
    """Every target of a `yaml` block loads and, with its variables set to something, shows what it would send."""
    found: list[Target] = []
    for number, (info, text) in enumerate(blocks(DOCS / "providers" / f"{provider}.md")):
        if info[:1] == ["yaml"] and "targets:" in text:
            path = tmp_path / f"targets-{number}.yaml"
            path.write_text(text, encoding="utf-8")
            found += load_targets(path).targets
    assert {target.provider for target in found} == {provider}
    assert len(found) >= 2
    for target in found:
        known = {use.name: _dummy(use.name) for use in references(full_settings(target, {}))}
        opened = Providers(root=tmp_path, environment={}).open(resolve_target(target, known))
        preview = opened.preview(ProviderRequest(question="Hello", case_id="greeting", vars={"plan": "team"}))
        assert preview.messages[-1] == {"role": "user", "content": "Hello"}


def _dummy(name: str) -> str:
    return "https://api.example.org" if name.endswith(("ENDPOINT", "URL")) else "dummy"


def test_the_table_of_settings_is_that_of_the_format() -> None:
    """providers/index.md says of each setting, but for those that all have, which providers take it."""
    common = set(TargetBase.model_fields)
    settings = {field for name in ASKED for field in PROVIDERS[name].model_fields if field not in common}
    expected = {
        setting: {name: "yes" if setting in PROVIDERS[name].model_fields else "–" for name in ASKED}
        for setting in settings
    }
    assert tables(DOCS / "providers" / "index.md", "setting") == expected


def test_every_rewrite_is_explained_and_no_other() -> None:
    """Each kind of rewrite, and each rule of a refusal, has a section in rewrites.md, and each section its kind."""
    kinds, rules = set(first_arguments("notes.add")), set(first_arguments("PromptError"))
    assert headings(REWRITES) == kinds | rules


def sections(page: Path) -> dict[str, str]:
    """The text below each heading of the third level."""
    _, *parts = re.split(r"^### (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {
        name: re.split(r"^## ", text, flags=re.MULTILINE)[0] for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


@pytest.mark.parametrize(("kind", "text"), sections(REWRITES).items(), ids=sections(REWRITES))
def test_the_example_of_a_rewrite_is_real(kind: str, text: str) -> None:
    """What it does, why, before and after, what to do; and encoding what stands before gives what stands after."""
    shape = (
        r"\n\n[^-].+?\n\n- Why: .+?\n"
        r"- (?:Before: `(?P<before>.+?)`\n- After, (?P<api>[^:]+): `(?P<after>.+?)`\n"
        r"|Example: (?P<refusing>.+?) refuses `(?P<refused>.+?)`\n)- Do: .+?\n+"
    )
    found = re.fullmatch(shape, text, re.DOTALL)
    assert found, text
    request = _request(found["before"] or found["refused"])
    wire = import_module(f"turnwise.providers.wire.{APIS[found['api'] or found['refusing']]}")
    if found["refused"]:
        with pytest.raises(PromptError) as refusal:
            wire.encode(request)
        assert refusal.value.rule == kind
    else:
        encoded = wire.encode(request)
        assert kind in {each.kind for each in encoded.rewrites}
        assert re.sub(r"\n +", " ", found["after"]) in json.dumps(encoded.body)


def _request(written: str) -> WireRequest:
    value = json.loads(re.sub(r"\n +", " ", written))
    options = value if isinstance(value, dict) else {"messages": value}
    return WireRequest(model="m", **{**options, "settings": Settings(**options.get("settings", {}))})


def _call(name: str, call_id: str | None, **extra: Any) -> dict[str, Any]:
    ids = {} if call_id is None else {"id": call_id}
    return {**ids, "type": "function", "function": {"name": name, "arguments": '{"city": "Rome"}'}, **extra}


def _calls(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def _result(call_id: str | None, content: Any = "rain", **extra: Any) -> dict[str, Any]:
    ids = {} if call_id is None else {"tool_call_id": call_id}
    return {"role": "tool", "content": content, **ids, **extra}


_HELLO = {"role": "user", "content": "Hello"}
_IMAGE = {"type": "image", "value": "a.png", "media_type": "image/png", "data": "aGk="}
_TEXTS = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
_WEATHER = _calls(_call("weather", "call_1"))
_BAD_ARGUMENTS = _calls({"id": "call_1", "function": {"name": "weather", "arguments": "[1]"}})

# Conversations and settings that no API takes as they are.
PROBES: tuple[dict[str, Any], ...] = (
    {"messages": [{"role": "critic", "content": "Too long."}, _HELLO]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": " "}, {"type": "text", "text": "Hello"}]}]},
    {"messages": [_HELLO, {"role": "assistant", "content": " "}, _HELLO]},
    {"messages": [{**_HELLO, "name": "Ada"}]},
    {"messages": [{**_HELLO, "mood": "calm"}]},
    {"messages": [{"role": "system", "content": _TEXTS}, _HELLO]},
    {"messages": [_calls(_call("weather", "call_1")), _result("call_1"), _HELLO]},
    {"messages": [_HELLO, _WEATHER, _result("call_1", name="weather")]},
    {"messages": [_HELLO, {"role": "assistant", "content": "Well, "}]},
    {"messages": [{"role": "developer", "content": "Be brief."}, _HELLO]},
    {"messages": [{"role": "system", "content": "Be brief."}, _HELLO]},
    {"messages": [{"role": "system", "content": "Be brief."}, _HELLO], "system_role": "developer"},
    {"messages": [_HELLO, _HELLO]},
    {"messages": [_HELLO, _calls(_call("a", "x"), _call("b", "y")), _result("x"), _result("y")]},
    {"messages": [_HELLO, _calls(_call("weather", None)), _result(None)]},
    {"messages": [_HELLO, _WEATHER, _result("call_1"), _WEATHER, _result("call_1")]},
    {"messages": [_HELLO, _calls(_call("weather", "no good id!")), _result("no good id!")]},
    {"messages": [_HELLO, _result("call_9")]},
    {"messages": [_HELLO, _WEATHER, _HELLO, _result("call_1")]},
    {"messages": [_HELLO, _calls(_call("weather", "call_1", index=0)), _result("call_1")]},
    {"messages": [_HELLO, _WEATHER]},
    {"messages": [_HELLO, _WEATHER, _result("call_1", [_IMAGE])]},
    {"messages": [_HELLO], "output_schema": {"type": "object"}},
    {"messages": [{"role": "user", "content": [_IMAGE]}], "images": False},
    {"messages": [{"role": "user", "content": [{"type": "audio"}]}]},
    {"messages": [_HELLO, {"role": "assistant", "content": [_IMAGE]}]},
    {"messages": [{"role": "system", "content": [_IMAGE]}, _HELLO]},
    {"messages": [{"role": "system", "content": "Be brief."}]},
    {"messages": [{"role": "assistant", "content": "Hi."}, _HELLO]},
    {"messages": []},
    {"messages": [_HELLO, {"role": "assistant", "content": _TEXTS}, _HELLO]},
    {"messages": [_HELLO, _WEATHER, _result("call_1", _TEXTS)]},
    {"messages": [_HELLO, _calls(_call("get weather", "call_1")), _result("call_1")]},
    {"messages": [{"role": "user", "content": [{**_IMAGE, "media_type": "image/bmp"}]}]},
    {"messages": [_HELLO], "settings": Settings(thinking_budget=100)},
    {"messages": [_HELLO], "settings": Settings(thinking_budget=0, reasoning_effort="low")},
    {"messages": [_HELLO, _BAD_ARGUMENTS, _result("call_1")]},
    {"messages": [_HELLO], "settings": Settings(seed=7, stop=("END",), thinking_budget=1)},
)


def found_by_probing(module: str) -> set[str]:
    """The kinds of rewrites, and the rules of refusals, that an API's wire module gives for the probes."""
    wire = import_module(f"turnwise.providers.wire.{module}")
    found: set[str] = set()
    for probe in PROBES:
        try:
            found |= {each.kind for each in wire.encode(WireRequest(model="m", **probe)).rewrites}
        except PromptError as error:
            found.add(error.rule)
    return found


@pytest.mark.parametrize(("api", "module"), APIS.items(), ids=APIS)
@pytest.mark.parametrize("column", ["rewrite", "refusal"])
def test_the_tables_of_rewrites_say_what_the_apis_do(api: str, module: str, column: str) -> None:
    """A kind is marked for an API where one of the probes makes it happen, and nowhere else."""
    table = tables(REWRITES, column)
    assert {kind for kind, row in table.items() if row[api] == "yes"} == found_by_probing(module) & set(table)
    assert {row[api] for row in table.values()} <= {"yes", "–"}


def test_the_probes_meet_every_kind() -> None:
    """No kind and no rule is in the tables only because nobody looked: each happens for some API."""
    met = set().union(*(found_by_probing(module) for module in APIS.values()))
    assert met == set(tables(REWRITES, "rewrite")) | set(tables(REWRITES, "refusal"))


def test_every_error_of_a_provider_is_explained() -> None:
    """errors.md has a row and a section for each class of `ProviderError`, and says truly which are tried again."""
    classes = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, ProviderError)]
    expected = {
        each.kind: {"exception": f"`{each.__name__}`", "tried again": "yes" if each.passes else "no"}
        for each in classes
        if each is not ProviderError
    }
    page = DOCS / "reference" / "errors.md"
    assert tables(page, "kind") == expected
    assert headings(page) == {*expected, "case"}  # a case that cannot be made: an error of runs, of no provider


@pytest.fixture
def installed_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package of your-own-provider.md, as pip would leave it, and its project; the project's folder."""
    site, project = tmp_path / "site", tmp_path / "project"
    for info, text in blocks(OWN_PROVIDER):
        file = next((word.removeprefix("file=") for word in info if word.startswith("file=")), None)
        if file is not None:
            goal = (project if file.endswith(".yaml") else site) / file
            goal.parent.mkdir(parents=True, exist_ok=True)
            goal.write_text(text, encoding="utf-8")
    package = tomllib.loads((site / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info_folder = site / f"{package['name']}-{package['version']}.dist-info"
    info_folder.mkdir()
    points = package["entry-points"]["turnwise.providers"]
    lines = ["[turnwise.providers]", *(f"{name} = {value}" for name, value in points.items())]
    (info_folder / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    (info_folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package['name']}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(site))
    return project


def test_the_example_of_a_provider_works(installed_example: Path) -> None:
    """The package of the page is found by its entry point, takes its settings, and answers as the page says."""

    async def answer() -> str:
        async with open_provider("parrot", root=installed_example, environment={}) as provider:
            return (await provider.ask(ProviderRequest(question="Hello?"))).text

    assert asyncio.run(answer()) == "HELLO? HELLO?"
