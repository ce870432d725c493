"""Where the command starts: next to nothing is imported before Ctrl-C is minded."""

from __future__ import annotations

__all__ = ["process"]


def process() -> None:
    """Run the command line as a process of its own."""
    try:
        from .cli import process as run_command_line
    except KeyboardInterrupt:
        import os

        os._exit(130)
    run_command_line()
