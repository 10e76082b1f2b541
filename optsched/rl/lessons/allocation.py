"""What `optsched train` trains for allocation."""

from optsched.rl.lesson import Lesson

LESSONS = {
    "allocation-imitation": Lesson(
        "optsched.rolling.allocation.lesson:imitation",
        "allocation",
        "Prices of GPU time, taught by whichever price serves best on the true future.",
        1500,
        300,
        ("andreas", "papers", "wide", "toy"),
        score="logarithm of what `priced` costs over what it costs itself",
    ),
}
