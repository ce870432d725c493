"""`python -m turnwise`."""

from .cli import main

if __name__ == "__main__":
    main()
