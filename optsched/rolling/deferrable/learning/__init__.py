"""How learned policies of deferrable are trained: in the states of replays, with torch."""
