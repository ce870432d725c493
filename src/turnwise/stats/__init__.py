"""Numbers with error bars. Pure functions.

What every run needs is made of the standard library alone (`intervals`, `sums`, `trials`, `percentiles`); what compares
judges with people needs numpy, and scipy here and there.
"""
