"""allocation as arithmetic: options, packing patterns, who is urgent."""
