"""Time-indexed programs at scale: capacity is priced, so that every job is on its own."""
