"""Is it well formed: every problem of every file of a project, whatever its kind."""
