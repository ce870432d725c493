"""Graders written in Markdown: decks, the files that they include and embed, and samples."""
