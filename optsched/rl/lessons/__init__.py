"""What `optsched train` can train, a family a file; none loads what it names."""
