"""What stays of a request to VS Code when its folder is used again."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnwise.errors import ApplicationError, ProviderError, ProviderTimeoutError
from vscode_stage import Stage, quick, request_of


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def failed(stage: Stage, **settings: object) -> ProviderError:
    """The error of a request that must fail."""
    with pytest.raises(ProviderError) as raised:
        stage.asked(request_of("say it"), **settings)
    return raised.value


def test_request_and_answer_are_kept(tmp_path: Path) -> None:
    """Each case has a log of its own with both, though the next one empties the folder."""
    stage = Stage(tmp_path)
    answers = [*stage.asked(request_of("say one", case_id="a")), *stage.asked(request_of("say two", case_id="b"))]
    logs = [answer.agent.log for answer in answers if answer.agent is not None]
    assert logs == [tmp_path / "logs" / "editor" / f"{case}@1.log" for case in "ab"]
    for log, answer, question in zip(logs, answers, ("say one", "say two"), strict=True):
        assert log is not None
        text = log.read_text(encoding="utf-8")
        assert question in text
        assert answer.text in text.partition("_res.md\n")[2]


def test_a_folder_of_ones_own_for_logs(tmp_path: Path) -> None:
    """`log_dir` goes before the run's folder."""
    (answer,) = Stage(tmp_path).asked(log_dir=str(tmp_path / "mine"))
    assert answer.agent is not None
    assert answer.agent.log == tmp_path / "mine" / "editor" / "a@1.log"


def test_an_error_names_the_file_that_stays(tmp_path: Path) -> None:
    """Where no answer came, the request is kept, and the message says where."""
    error = failed(Stage(tmp_path, does="never"), timeout=0.3)
    assert isinstance(error, ProviderTimeoutError)
    assert str(error).endswith(f"the request is kept in {tmp_path / 'logs' / 'editor' / 'a@1.log'}")
    assert "say it" in (tmp_path / "logs" / "editor" / "a@1.log").read_text(encoding="utf-8")
    assert error.agent is not None
    assert error.agent["log"] == str(tmp_path / "logs" / "editor" / "a@1.log")


def test_a_request_that_was_not_taken_is_kept(tmp_path: Path) -> None:
    """Where `code` fails, the log still says what was asked."""
    error = failed(Stage(tmp_path, does="fail"))
    assert isinstance(error, ApplicationError)
    assert error.agent is not None
    assert "say it" in Path(error.agent["log"]).read_text(encoding="utf-8")


def test_each_case_of_a_batch_has_a_log(tmp_path: Path) -> None:
    """They share a folder, and no log."""
    stage = Stage(tmp_path)
    answers = stage.asked(request_of("one", case_id="a"), request_of("two", case_id="b"), batch=True)
    logs = [answer.agent.log for answer in answers if answer.agent is not None]
    assert logs == [tmp_path / "logs" / "editor" / f"{case}@1.log" for case in "ab"]
