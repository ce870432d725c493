"""A tiny agent without a model, in two forms. With an argument it answers one request; without, it takes lines of JSON.

It reads the order of the case, which is copied into its workspace, writes a bill there, and says what it did.
"""

import json
import sys
from pathlib import Path


def bill(workspace):
    """Add up the order, and leave the bill in the workspace."""
    lines = (workspace / "desk" / "order.csv").read_text().split()
    total = sum(int(count) * int(price) for count, price in (line.split(",")[1:] for line in lines))
    (workspace / "bill.txt").write_text(f"total: {total} EUR\n")
    return f"The bill is in bill.txt: {total} EUR."


def called(name, number):
    """A tool call, in the form of messages."""
    return {"id": str(number), "type": "function", "function": {"name": name, "arguments": "{}"}}


def answered(request):
    """An answer with what was done on the way."""
    text = bill(Path(request["workspace"]))
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [called("read_order", 1), called("write_bill", 2)]},
        {"role": "tool", "tool_call_id": "1", "content": "read"},
        {"role": "tool", "tool_call_id": "2", "content": "written"},
        {"role": "assistant", "content": text},
    ]
    return {"id": request["id"], "messages": messages, "usage": {"input_tokens": 120, "output_tokens": 20}}


if len(sys.argv) > 1:
    sys.stdout.write(bill(Path.cwd()))
else:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answered(json.loads(line))) + "\n")
