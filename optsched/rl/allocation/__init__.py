"""A learned scheduler of a GPU cluster: what it sees, how it acts, and how it is trained by imitation."""
