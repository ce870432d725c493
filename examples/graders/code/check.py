"""Reads a submission as JSON, and prints a verdict as JSON: is the total right, and does it have a currency?"""

import json
import re
import sys
from decimal import Decimal

given = json.load(sys.stdin)
expected = sum(Decimal(price) for price in given["vars"]["prices"].split(","))
stated = [Decimal(number) for number in re.findall(r"\d+\.\d\d", given["answer"])]

checks = {f"states the total, {expected}": expected in stated, "names the currency": "EUR" in given["answer"]}
hits = [name for name, holds in checks.items() if holds]
misses = [name for name, holds in checks.items() if not holds]
evidence = {"stated": [str(number) for number in stated]}
verdict = {"score": len(hits) / len(checks), "hits": hits, "misses": misses, "evidence": evidence}
sys.stdout.write(json.dumps(verdict))
