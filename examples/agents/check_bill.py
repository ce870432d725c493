"""Looks into the workspace that the agent left: is the bill there, and is it right?"""

import json
import sys
from pathlib import Path


def graded(given):
    """The grade; an error where there is no workspace to look into."""
    if given["workspace"] is None:
        kept = "it stays for later only with `keep_workspaces: always`"
        return {"error": f"there is no workspace: only agents leave a bill, and {kept}"}
    bill = Path(given["workspace"], "bill.txt")
    found = bill.read_text(errors="replace").strip() if bill.is_file() else "no bill"
    right = found == f"total: {given['vars']['total']} EUR"
    return {"score": float(right), "reason": f"bill.txt holds: {found}"}


sys.stdout.write(json.dumps(graded(json.load(sys.stdin))))
