"""Numbers with error bars: intervals for means and rates, repeated trials, percentiles. Pure; standard library only."""
