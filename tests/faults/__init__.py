"""Faults that a run must survive, shown with real processes, signals, disks and servers."""
