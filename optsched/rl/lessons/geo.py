"""What `optsched train` trains for geo."""

from optsched.rl.lesson import Lesson

LESSONS = {
    "masac": Lesson(
        "optsched.rolling.geo.learning:masac",
        "geo",
        "MASAC: discrete soft actor-critic, an agent a site, a shared reward.",
        400_000,
        10_000,
        ("small", "table-1", "toy"),
        score="share of the clairvoyant bound, over an idle system",
    ),
    "madqn": Lesson(
        "optsched.rolling.geo.learning:madqn",
        "geo",
        "MADQN: double DQN, an agent a site, a shared reward.",
        400_000,
        10_000,
        ("small", "table-1", "toy"),
        score="share of the clairvoyant bound, over an idle system",
    ),
    "geo-imitation": Lesson(
        "optsched.rolling.geo.teaching:imitation",
        "geo",
        "What the optimum charges for capacity, from what is seen; jobs go where they earn most after that.",
        120_000,
        8_000,
        ("many", "small", "table-1", "toy"),
        score="share of the clairvoyant bound, over an idle system",
    ),
}
