"""Agents, their weights, and how they are trained. Only training needs the `rl` extra; acting needs NumPy."""
