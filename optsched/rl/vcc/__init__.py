"""Agents that cap a data centre: what they see, how they act, and how they are trained."""
