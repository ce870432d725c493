"""Doing it: plan, scheduler, cache, budget, and the journal of what came out."""
