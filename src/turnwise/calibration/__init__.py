"""How far a grader can be trusted: its verdicts against the labels of people."""
