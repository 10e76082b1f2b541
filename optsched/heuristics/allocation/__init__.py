"""allocation: dispatch rules, the greedy that starts `exact`, and the paper's randomized greedy."""

from optsched.heuristics.allocation.dispatch import RULES, rule
from optsched.heuristics.allocation.greedy import greedy
from optsched.heuristics.allocation.local_search import searched_greedy
from optsched.heuristics.allocation.priced import priced
from optsched.heuristics.allocation.randomized_greedy import randomized_greedy

HEURISTICS = {
    "greedy": greedy,
    "randomized-greedy": randomized_greedy,
    "randomized-greedy+ls": searched_greedy,
    "priced": priced,
    **{name: rule(name) for name in RULES},
}
