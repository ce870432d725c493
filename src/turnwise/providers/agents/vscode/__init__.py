"""An agent in a running VS Code: asked through the `code` command and through files."""
