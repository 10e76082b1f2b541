"""Learned policies of deferrable: OSDEC and its ablations (Dong et al., section 4), and one that imitates the optimum."""
