"""What an answer is worth: graders by kind, how a suite names them, and the score of a case."""
