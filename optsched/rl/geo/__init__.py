"""Learned policies of geo: decision rounds, what an agent sees in one, networks, and how they learn."""
