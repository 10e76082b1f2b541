"""Bounds and constructions on time-indexed programs."""
