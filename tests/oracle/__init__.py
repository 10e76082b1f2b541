"""Tiny random instances and the optimum by enumeration: what every formulation and backend is compared with."""
