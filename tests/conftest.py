"""Settings for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

from command_fixtures import turnwise as turnwise

# A gate must not fail by chance or on a busy machine: `make test` repeats the same examples; `make test-all` looks
# for new ones.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
