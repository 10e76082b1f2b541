"""Many runs as independent tasks: a plan says which, a store keeps what came of each, a driver has workers do the rest."""
