"""The report of a calibration as one HTML file that needs nothing from outside."""
