"""Whom to ask: target definitions, `${{ NAME }}` variables and `.env` files."""
