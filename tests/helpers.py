"""What several tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run_turnwise(
    *arguments: str, cwd: Path = ROOT, stdin: bytes | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user would: a process of its own, its output as text."""
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
    done = subprocess.run(
        [sys.executable, "-m", "turnwise", *arguments],
        cwd=cwd,
        input=stdin if stdin is not None else b"",
        capture_output=True,
        timeout=120,
        env={**kept, **environment},
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    )
