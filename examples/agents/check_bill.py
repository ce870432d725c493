"""Looks into the workspace that the agent left: is the bill there, and is it right?"""

import json
import sys
from pathlib import Path

given = json.load(sys.stdin)
bill = Path(given["workspace"], "bill.txt")
found = bill.read_text().strip() if bill.exists() else "no bill"
right = found == f"total: {given['vars']['total']} EUR"
sys.stdout.write(json.dumps({"score": float(right), "reason": f"bill.txt holds: {found}"}))
