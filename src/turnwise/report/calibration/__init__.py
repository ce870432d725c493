"""The report of a calibration: for terminals, pull requests and browsers."""
