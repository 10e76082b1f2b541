"""One file a family: which parts it has in each room. See `optsched.family.Family` and docs/extending.md."""
