"""One model per provider that runs an agent: which settings it takes, and nothing else."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, Tag, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word
from .agent_rules import check_at, check_copilot, check_model_of_server, check_owner_of_key, check_pi
from .command_rules import check_command, check_files_format, check_healthcheck
from .settings import ONE_FOLDER, OR_VARIABLE, Command, Program, Seconds, Switch, TargetBase, Variable, Workspace
from .texts import JsonPointer, RequestAddress

__all__ = [
    "ClaudeCodeTarget",
    "CliTarget",
    "CodexTarget",
    "CommandHealthcheck",
    "HttpHealthcheck",
    "PiTarget",
    "VSCodeInsidersTarget",
    "VSCodeTarget",
]

Recipe = Annotated[
    Annotated[Literal["aider", "copilot", "gemini-cli", "opencode"], Tag("value")] | Variable, OR_VARIABLE
]
PromptBy = Annotated[Annotated[Literal["argument", "file", "stdin"], Tag("value")] | Variable, OR_VARIABLE]
AnswerFrom = Annotated[Annotated[Literal["stdout", "file"], Tag("value")] | Variable, OR_VARIABLE]

_OF_RECIPES = ("executable", "args", "model", "api_key", "base_url")
_OF_COMMANDS = ("shell", "files_format", "prompt_by", "answer_from", "answer_pointer", "batch")
_ABSENT: JsonDict = {"type": "null"}
_GIVEN: JsonDict = {"not": {"type": "null"}}

# The same as the rules of `CliTarget`, in the words of JSON Schema; `null` is the same as absent.
_ONE_PROGRAM: JsonDict = {
    **ONE_FOLDER,
    "oneOf": [
        {
            "required": ["command"],
            "properties": {"command": _GIVEN, "recipe": _ABSENT, **dict.fromkeys(_OF_RECIPES, _ABSENT)},
        },
        {
            "required": ["recipe"],
            "properties": {
                "recipe": _GIVEN,
                "command": _ABSENT,
                "shell": {"const": False},
                "files_format": _ABSENT,
                "prompt_by": {"const": "argument"},
                "answer_from": {"const": "stdout"},
                "answer_pointer": _ABSENT,
                "batch": {"const": False},
            },
        },
    ],
}


class CommandHealthcheck(FormatModel):
    """A command that must succeed before the first case."""

    type: Literal["command"] = Field(description="Run a command.")
    command: Command = Field(description="The command, as a list of arguments or a text; run like the target's own.")
    cwd: Word | None = Field(None, description="The folder to run it in; the target's if absent.")
    timeout: Seconds | None = Field(None, description="Seconds that it may take.")


class HttpHealthcheck(FormatModel):
    """An address that must answer with a 2xx status before the first case."""

    type: Literal["http"] = Field(description="Ask an address.")
    url: RequestAddress = Field(description="The address.")
    timeout: Seconds | None = Field(None, description="Seconds that it may take.")


Healthcheck = Annotated[CommandHealthcheck | HttpHealthcheck, Field(discriminator="type")]


class CliTarget(Program, Workspace, TargetBase):
    """Any program that takes a prompt and gives an answer."""

    model_config = ConfigDict(json_schema_extra=_ONE_PROGRAM)

    provider: Literal["cli"] = Field(description="Any program that takes a prompt and gives an answer.")
    command: Command | None = Field(
        None,
        description="The command, as a list of arguments or a text, with `{PROMPT}`, `{PROMPT_FILE}`, `{FILES}`, "
        "`{GUIDELINES}`, `{CASE_ID}`, `{ATTEMPT}`, `{OUTPUT_FILE}` and `{PROJECT}` filled in.",
    )
    recipe: Recipe | None = Field(
        None,
        description="A known program, instead of `command`; only then are there `executable`, `args`, `model`, "
        "`api_key` and `base_url`.",
    )
    shell: Switch = Field(False, description="Whether `command` is run by a shell; what is filled in is quoted for it.")
    files_format: Word | None = Field(
        None, description="How each file of `{FILES}` is written, with `{path}` and `{basename}`; `{path}` if absent."
    )
    prompt_by: PromptBy = Field("argument", description="How the program gets the prompt.")
    answer_from: AnswerFrom = Field("stdout", description="Where the program leaves the answer.")
    answer_pointer: JsonPointer | None = Field(
        None, description="A JSON pointer to the answer in what the program writes; all of it is the answer if absent."
    )
    batch: Switch = Field(False, description="Whether one process takes all cases as JSON lines and answers in kind.")
    healthcheck: Healthcheck | None = Field(None, description="What must work before the first case is run.")

    @model_validator(mode="after")
    def _has_one_program(self) -> Self:
        if (self.command is None) == (self.recipe is None):
            raise PydanticCustomError(
                "one_program",
                "a cli target needs `command` or `recipe`, and only one of them",
                {"hint": "such as command: [my-agent, --prompt, '{PROMPT}']", "at": "recipe"},
            )
        return self

    @model_validator(mode="after")
    def _has_settings_of_its_form(self) -> Self:
        form, other, names = (
            ("command", "recipe", _OF_RECIPES) if self.recipe is None else ("recipe", "command", _OF_COMMANDS)
        )
        fields = type(self).model_fields
        for name in names:
            if getattr(self, name) != fields[name].default:
                where = "write it into the command" if form == "command" else "a recipe knows how its program is asked"
                raise PydanticCustomError(
                    "other_program",
                    "`{name}` goes with `{other}`, not with `{form}`",
                    {"name": name, "other": other, "form": form, "hint": f"remove `{name}`: {where}", "at": name},
                )
        return self

    @model_validator(mode="after")
    def _has_a_command_that_works(self) -> Self:
        if self.command is not None:
            check_at("command", check_command, self)
        if self.files_format is not None:
            check_at("files_format", check_files_format, self)
        if isinstance(self.healthcheck, CommandHealthcheck):
            check_at("healthcheck.command", check_healthcheck, self)
        return self

    @model_validator(mode="after")
    def _has_what_its_recipe_needs(self) -> Self:
        if self.recipe == "copilot":
            check_at("api_key" if self.model else "base_url", check_copilot, self)
        if self.recipe == "opencode":
            check_at("base_url", lambda target: check_model_of_server(target, "OpenCode"), self)
            check_at("api_key", lambda target: check_owner_of_key(target, "OpenCode"), self)
        if self.recipe == "aider":
            check_at("api_key", lambda target: check_owner_of_key(target, "Aider"), self)
        return self


class CodexTarget(Program, Workspace, TargetBase):
    """OpenAI's Codex CLI."""

    provider: Literal["codex"] = Field(description="OpenAI's Codex CLI.")


class ClaudeCodeTarget(Program, Workspace, TargetBase):
    """Anthropic's Claude Code."""

    provider: Literal["claude-code"] = Field(description="Anthropic's Claude Code.")


class PiTarget(Program, Workspace, TargetBase):
    """The pi coding agent."""

    provider: Literal["pi"] = Field(description="The pi coding agent.")

    @model_validator(mode="after")
    def _can_be_told_its_model(self) -> Self:
        check_at("base_url" if self.base_url else "api_key", check_pi, self)
        return self


class VSCode(FormatModel):
    """Settings of an agent in a running VS Code."""

    executable: Word | None = Field(
        None, description="The command that reaches VS Code; `code` or `code-insiders` if absent."
    )
    workspace_template: Word | None = Field(
        None, description="A folder or `.code-workspace` file that the agents' workspaces are made from."
    )
    mode: Word | None = Field(None, description="The chat mode; VS Code's agent mode if absent.")
    wait: Switch = Field(True, description="Whether to wait for the answer, or only to dispatch the request.")
    dry_run: Switch = Field(False, description="Whether to prepare everything and dispatch nothing.")
    agent_root: Word | None = Field(None, description="The folder for the agents' folders; not a hidden one.")
    batch: Switch = Field(False, description="Whether several cases go out in one request.")
    log_dir: Word | None = Field(None, description="The folder for requests and answers; the run's folder if absent.")


class VSCodeTarget(VSCode, TargetBase):
    """An agent in a running VS Code."""

    provider: Literal["vscode"] = Field(description="An agent in a running VS Code.")


class VSCodeInsidersTarget(VSCode, TargetBase):
    """An agent in a running VS Code Insiders."""

    provider: Literal["vscode-insiders"] = Field(description="An agent in a running VS Code Insiders.")
