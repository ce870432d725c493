"""Programs of others: started, bounded, and ended whole."""
