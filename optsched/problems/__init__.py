"""Instances as problems of arithmetic: options, patterns, staircases. No solver is needed for any of it, and none is loaded."""
