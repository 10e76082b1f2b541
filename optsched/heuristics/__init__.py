"""Schedules without a bound, in milliseconds: per family, by name."""
