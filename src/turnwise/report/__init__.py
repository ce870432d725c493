"""Showing it: results, prompts and diagnostics for terminals, files and other programs."""
