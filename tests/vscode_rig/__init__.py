"""A real VS Code without a screen or an account, that a test can dispatch chats to; see README.md."""
