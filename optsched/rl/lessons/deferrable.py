"""What `optsched train` trains for deferrable."""

from optsched.rl.lesson import Lesson


def _osdec(name: str, about: str) -> Lesson:
    make = f"optsched.rolling.deferrable.learning.configurations:{name}"
    return Lesson(make, "deferrable", about, 400_000, 20_000, ("osdec", "osdec-table3", "real-time", "toy"))


LESSONS = {
    "osdec": _osdec("OSDEC", "OSDEC: PPO, a Transformer encoder, and auxiliary tasks whose features join the state."),
    "osdec-reinforce": _osdec("REINFORCE", "OSDEC's network trained by REINFORCE."),
    "osdec-mlp": _osdec("MLP", "Ablation PPO: a perceptron over a fixed number of jobs."),
    "osdec-pointer": _osdec("POINTER", "Ablation PointerNet: jobs through an LSTM, scored by what its last state asks."),
    "osdec-att": _osdec("ATT", "Ablation PPO+Att: no auxiliary tasks."),
    "osdec-auxh": _osdec("AUXH", "Ablation PPO+Att+AuxH: the tasks' own layer joins the state."),
    "osdec-auxl": _osdec("AUXL", "Ablation PPO+Att+AuxL: the layer that the tasks share joins the state."),
    "deferrable-imitation": Lesson(
        "optsched.rolling.deferrable.learning.imitation:made",
        "deferrable",
        "Imitation of the optimum, by what its prices make of starting each job now (DAgger).",
        100_000,
        10_000,
        ("osdec", "real-time", "toy"),
    ),
    "deferrable-prices": Lesson(
        "optsched.rolling.deferrable.learning.pricing:made",
        "deferrable",
        "What the optimum charges for capacity, from what is seen; jobs start where they earn most after that.",
        100_000,
        10_000,
        ("osdec", "real-time", "toy"),
    ),
}
