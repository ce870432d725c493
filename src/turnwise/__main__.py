"""`python -m turnwise`."""

from .entry import process

if __name__ == "__main__":
    process()
