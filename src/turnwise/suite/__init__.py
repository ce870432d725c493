"""What to ask: suites, cases and config; YAML, JSON, JSONL and CSV in, diagnostics with line and column out."""
