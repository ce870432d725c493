"""The process that holds a model: llama.cpp's HTTP server on 127.0.0.1, at a port that the system picks.

Run as `python -P -m turnwise.providers.llama_server`. The first line of its input is a JSON object of options; its
only line of output is `{"address": "http://127.0.0.1:PORT"}`, written when it can answer. It lives as long as its
input is open: when the process that started it is gone, however that ended, so is this one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

__all__ = ["main", "server_params"]


def main() -> int:
    """Serve until the input ends. The exit status is 1 if the model could not be served."""
    # Whatever libraries print must not be taken for the address.
    announcements = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    options = json.loads(sys.stdin.buffer.readline())
    _end_with_input()
    try:
        server = _serve(options)
    except Exception as error:  # noqa: BLE001 - the edge of the process: whatever it was, people read one line
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    os.write(announcements, json.dumps({"address": server.listening_address}).encode() + b"\n")
    os.close(announcements)
    while sys.stdin.buffer.read(4096):
        pass
    # Not a return: taking the server down in order can wait for ever, and there is nothing to save.
    os._exit(0)


def server_params(options: dict[str, Any]) -> Any:
    """llama.cpp's own parameters for these options."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options["model"]
    params.model_alias = {options["alias"]}
    params.n_parallel = options["parallel"]
    # llama.cpp divides its context between the slots; 0 is the model's own.
    params.n_ctx = (options["context_length"] or 0) * options["parallel"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options["threads"]
    params.api_keys = [options["api_key"]] if options["api_key"] else []
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.offline, params.warmup, params.use_jinja = True, False, True
    params.n_gpu_layers, params.fit_params = 0, False
    # Errors only, and they go to stderr.
    params.verbosity = 1
    # A web page in the user's browser must not talk to the model, nor see what others asked it.
    params.ui, params.endpoint_slots, params.cors_origins, params.cors_credentials = False, False, "", False
    # Its default keeps up to 8 GiB of old prompts; each slot still remembers its last one.
    params.cache_ram_mib = 0
    return params


def _serve(options: dict[str, Any]) -> Any:
    import xllamacpp

    return xllamacpp.Server(server_params(options))


def _end_with_input() -> None:
    """Let the end of the input kill this process, also while a large model loads.

    Loading holds Python's lock, so no thread of ours could notice. A signal needs no lock: SIGIO ends the process
    unless somebody handles it. Where the system has none, the end is noticed after loading.
    """
    try:
        import fcntl
    except ImportError:
        return
    if hasattr(os, "O_ASYNC") and hasattr(fcntl, "F_SETOWN"):
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)


if __name__ == "__main__":
    sys.exit(main())
