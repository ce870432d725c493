"""Which variables are taken out of what a program says: those that may be keys, and no others."""

from __future__ import annotations

from turnwise.programs.environment import hidden_values, without_hidden

KNOWN = {"PATH": "/usr/local/bin:/usr/bin", "HOME": "/home/somebody", "MY_KEY": "sk-0123456789"}


def test_what_every_program_sees_is_no_secret() -> None:
    """An author may name PATH and HOME: paths in an error stay readable, and only the key is hidden."""
    hidden = hidden_values(["PATH", "HOME", "MY_KEY"], KNOWN)
    assert hidden == {"MY_KEY": "sk-0123456789"}
    said = without_hidden("no /home/somebody/data with sk-0123456789", hidden)
    assert said == "no /home/somebody/data with [MY_KEY]"
