"""The Gemini API: our bodies against hand-written ones, and against what Google's SDK sends for these."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from sdk_recorder import Recorder, recorder
from shapes import IMAGE_DATA, MARKERS, PNG, STRANGE, shape
from turnwise.errors import PromptError
from turnwise.providers.base import Settings, Tool
from turnwise.providers.endpoints import endpoint_of
from turnwise.providers.wire import gemini
from turnwise.providers.wire.base import WireRequest


def text(value: str) -> dict[str, Any]:
    return {"text": value}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [text(each) if isinstance(each, str) else each for each in parts]}


def model(*parts: Any) -> dict[str, Any]:
    return {**user(*parts), "role": "model"}


def called(call_id: str, name: str, args: Any) -> dict[str, Any]:
    return {"functionCall": {"id": call_id, "name": name, "args": args}}


def result(call_id: str, name: str, output: str) -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": name, "response": {"output": output}}}


U, V, A = user("question"), user("more"), model("reply")
FIND, FOUND = called("c1", "find", {"q": "x"}), result("c1", "find", "found")
GET, GOT = called("c2", "get", {}), result("c2", "get", "got")
PICTURE = {"inlineData": {"mimeType": "image/png", "data": IMAGE_DATA}}
LINE = 'Tool call: find({"q":"x"})'
GUIDELINES = "[[ ## Guidelines ## ]]\n\n"
THREE = "\n\n".join(f"=== {name}.instructions.md ===\nGuideline {name}." for name in "abc")
TALK = [U, model(FIND), user(FOUND, "more")]
# The system text and the contents.
BODIES: dict[str, tuple[str | None, list[Any]]] = {
    "01 user only": (None, [U]),
    "02 system, user": ("rule one", [U]),
    "03 two system messages first": ("rule one\n\nrule two", [U]),
    "04 system after a user turn": ("rule one", [user("question", "more")]),
    "04 direct": ("rule one", [user("question", "more")]),
    "05 direct": ("rule one", [U, A, V]),
    "06 system between a call and its result": ("rule one", TALK),
    "06 direct": ("rule one", TALK),
    "07 direct": ("rule one", [U, A]),
    "09 assistant first": (None, [A, U]),
    "10 two user turns": (None, [user("question", "more")]),
    "11 two assistant turns": (None, [U, model("reply", "second reply"), V]),
    "12 assistant last": (None, [U, model("It is")]),
    "12 assistant last, trailing space": (None, [U, model("It is \n")]),
    "12 direct, three texts": (None, [U, model("It", "is ")]),
    "13 direct, empty turn": (None, [user("question", "more")]),
    "14 direct, blank turn": (None, [user("question", "more")]),
    "14 direct, blank system": (None, [U]),
    "15 direct, list with an empty text": (None, [user("question", "more")]),
    "15 direct, list with an empty text and a text": (None, [user("go")]),
    "16 calls without text": (None, TALK),
    "16 direct, call without id": (
        None, [U, model(called("call_1", "find", {"q": "x"})), user(result("call_1", "find", "found"))],
    ),
    "16 direct, strange id": (None, [U, model(called("a b/c", "get", {})), user(result("a b/c", "get", "g"))]),
    "16 direct, further keys": (None, [U, model(GET), user(GOT, "more")]),
    "16 direct, call by a user": (None, [user(f"question\n{LINE}")]),
    "17 calls with text": (None, [U, model("reply", FIND), user(FOUND, "more")]),
    "18 two calls, results out of order": (None, [U, model(FIND, GET), user(GOT, FOUND, "more")]),
    "18 direct, result far from its call": (None, TALK),
    "19 call without result": (None, [U, model(f"reply\n{LINE}"), V]),
    "20 result without call": (None, [user("question", "[Tool]:\nfound", "more")]),
    "21 two results for one call": (None, [U, model(FIND), user(FOUND, "[Tool]:\nfound again", "more")]),
    "22 empty result": (None, [U, model(FIND), user(result("c1", "find", ""), "more")]),
    "23 image in a user turn": (None, [user("question", PICTURE, "more")]),
    "23 direct, image in an assistant turn": (None, [U, model(PICTURE), V]),
    "24 image in a tool result": (None, [U, model(FIND), user(FOUND, PICTURE, "more")]),
    "24 direct, image in a result without call": (None, [user("question", "[Tool]:\n", PICTURE, "more")]),
    "25 guidelines in three roles": (
        f"rule one\n\n{GUIDELINES}{THREE}",
        [
            user("question\n<Attached: b.instructions.md>"),
            model("reply\n<Attached: c.instructions.md>"),
            V,
        ],
    ),
    "26 guidelines only": (f"{GUIDELINES}Guideline a.", [user("<Attached: a.instructions.md>")]),
    "29 unknown role": (None, [user("question", "[Critic]:\nweak", "more")]),
    "30 developer": ("rule one", [U]),
    "31 200 turns": (None, [(model if each % 2 else user)(f"turn {each}") for each in range(200)]),
    "32 our own markers": (None, [user(MARKERS), A, V]),
    "34 strange text": (None, [user(STRANGE)]),
}  # fmt: skip
REFUSED = {
    "08 system only": "no user turn",
    "13 direct, empty alone": "no user turn",
    "16 direct, arguments that are no object": "arguments",
    "23 direct, image in a system turn": "image in the wrong turn",
}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    """A recorder that answers with a candidate."""
    with recorder() as running:
        content = {"role": "model", "parts": [{"text": "ok"}]}
        running.answer_json({"candidates": [{"content": content, "finishReason": "STOP"}]})
        yield running


@pytest.fixture(scope="module")
def client(server: Recorder) -> Iterator[Any]:
    """Google's own client."""
    from google import genai

    with genai.Client(api_key="key", http_options=genai.types.HttpOptions(base_url=server.url)) as running:
        yield running


def camel(value: Any) -> Any:
    """The SDK spells some keys with underscores; the API takes both. What is the user's own stays as it is."""
    if isinstance(value, list):
        return [camel(each) for each in value]
    if not isinstance(value, dict):
        return value
    own = {"args", "response", "parametersJsonSchema", "responseJsonSchema"}
    spelled = {re.sub("_([a-z])", lambda found: found[1].upper(), key): each for key, each in value.items()}
    return {key: each if key in own else camel(each) for key, each in spelled.items()}


def encoded(name: str, **fields: Any) -> dict[str, Any]:
    return gemini.encode(WireRequest(model="m", messages=shape(name), **fields)).body


@pytest.mark.parametrize("name", BODIES)
def test_a_body_is_what_the_sdk_sends_for_the_same_conversation(name: str, client: Any, server: Recorder) -> None:
    """System text stands apart, user and model take turns, results are function responses; nothing else is sent."""
    from google.genai import types

    system, contents = BODIES[name]
    typed = [types.Content.model_validate(each) for each in contents]
    client.models.generate_content(
        model="m", contents=typed, config=types.GenerateContentConfig(system_instruction=system)
    )
    expected: dict[str, Any] = {"contents": contents}
    if system is not None:
        expected["systemInstruction"] = user(system)
    sent = {key: value for key, value in camel(server.last.body).items() if value != {}}
    assert encoded(name) == expected == sent


@pytest.mark.parametrize(("name", "rule"), REFUSED.items())
def test_what_the_api_has_no_form_for_is_refused(name: str, rule: str) -> None:
    """The error names the API's rule and says what to do; nothing was sent."""
    with pytest.raises(PromptError) as caught:
        encoded(name)
    assert (caught.value.rule, caught.value.attempts) == (rule, 0)
    assert caught.value.hint


def test_parts_made_by_the_sdk_read_as_ours(client: Any, server: Recorder) -> None:
    """Texts, images, calls and results that the SDK's own makers build are those of our bodies, but for call ids."""
    from google.genai import types

    part = types.Part
    call = part.from_function_call(name="find", args={"q": "x"})
    found = part.from_function_response(name="find", response={"output": "found"})
    picture = part.from_bytes(data=PNG, mime_type="image/png")
    turns = [
        types.UserContent("question"),
        types.ModelContent(call),
        types.UserContent([found, picture, part.from_text(text="more")]),
    ]
    client.models.generate_content(model="m", contents=turns)
    ours = encoded("24 image in a tool result")["contents"]
    for part_of_ours in [each for turn in ours for each in turn["parts"]]:
        for kind in ("functionCall", "functionResponse"):
            part_of_ours.get(kind, {}).pop("id", None)
    assert ours == camel(server.last.body)["contents"]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [({"thinking_budget": 64}, {"thinking_budget": 64}), ({"reasoning_effort": "low"}, {"thinking_level": "LOW"})],
)
def test_settings_tools_and_schema_are_what_the_sdk_sends(
    ours: Any, theirs: Any, client: Any, server: Recorder
) -> None:
    """Every setting of the API stands where the SDK puts it."""
    from google.genai import types

    config = types.GenerateContentConfig(
        temperature=0.5, top_p=0.9, max_output_tokens=99, seed=7, stop_sequences=["END"],
        response_mime_type="application/json", response_json_schema=SCHEMA,
        thinking_config=types.ThinkingConfig(include_thoughts=True, **theirs),
        tools=[types.Tool(function_declarations=[
            types.FunctionDeclaration(name="f", description="Finds.", parameters_json_schema=SCHEMA)
        ])],
    )  # fmt: skip
    client.models.generate_content(model="m", contents="question", config=config)
    settings = Settings(temperature=0.5, top_p=0.9, max_output_tokens=99, seed=7, stop=("END",), **ours)
    tools = [Tool("f", "Finds.", SCHEMA)]
    assert encoded("01 user only", settings=settings, tools=tools, output_schema=SCHEMA) == camel(server.last.body)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model_name", ["gemini-x", "models/gemini-x", "tunedModels/mine"])
@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_request_line_and_key_are_the_sdks(stream: bool, model_name: str, version: str, server: Recorder) -> None:
    """Version, model and verb make the path; a stream is asked for in the query."""
    from google import genai

    options = genai.types.HttpOptions(base_url=server.url, api_version=version)
    with genai.Client(api_key="key", http_options=options) as client:
        if stream:
            list(client.models.generate_content_stream(model=model_name, contents="question"))
        else:
            client.models.generate_content(model=model_name, contents="question")
    target = SimpleNamespace(
        provider="gemini", base_url=server.url, api_version=version, model=model_name, api_key="key", stream=stream
    )
    endpoint = endpoint_of(target)
    assert (server.last.method, server.url + server.last.target) == ("POST", endpoint.url)
    assert server.last.headers["x-goog-api-key"] == endpoint.headers["x-goog-api-key"]
