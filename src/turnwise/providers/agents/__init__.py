"""Agents: programs that take the transcript and files, work in a folder of their own, and bring back what they did."""
