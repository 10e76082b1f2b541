"""Time passes: simulators, policies, and the loop between them."""
