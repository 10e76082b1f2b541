"""What `optsched train` trains for vcc."""

from optsched.rl.lesson import Lesson

LESSONS = {
    "vcc-forecast": Lesson(
        "optsched.rolling.vcc.forecasting:learned",
        "vcc",
        "A forecast of carbon, learned from many months; the rolling plan plans by it.",
        12_000,
        3_000,
        ("months", "synthetic", "toy"),
        "fitted",
        "share of what `uncapped` costs that is saved",
    ),
    "vcc-ppo": Lesson(
        "optsched.rolling.vcc.lessons:ppo",
        "vcc",
        "PPO of Stable-Baselines3: which share of the queue starts, over many months and loads.",
        4_000_000,
        40_320,
        ("months", "synthetic", "toy"),
        "fitted",
        "share of what `uncapped` costs that is saved",
        toy=60_000,
    ),
    "vcc-sac": Lesson(
        "optsched.rolling.vcc.lessons:sac",
        "vcc",
        "SAC of Stable-Baselines3: the decision of vcc-ppo, learned from a replay buffer.",
        1_500_000,
        20_160,
        ("months", "synthetic", "toy"),
        "fitted",
        "share of what `uncapped` costs that is saved",
        toy=60_000,
    ),
}
