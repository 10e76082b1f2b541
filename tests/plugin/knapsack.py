"""A family of one's own: which jobs run on one machine now."""

from random import Random
from typing import ClassVar, Literal

import pyomo.environ as pyo

from optsched import Evaluation, Family, Instance, Schedule, Violation
from optsched.instances.base import Counting, Data, Identifier, Positive
from optsched.models.base import Model
from optsched.origins import Option, Origins, Scenario
from optsched.schedules.base import job_violations


class Job(Data):
    id: Identifier
    gpus: Counting
    value: Positive


class Knapsack(Instance["Chosen", "Chosen"]):
    sense: ClassVar[Literal["minimize", "maximize"]] = "maximize"
    problem: ClassVar[str] = "knapsack"
    gpus: Counting
    jobs: tuple[Job, ...]

    @property
    def job_count(self) -> int:
        return len(self.jobs)


class Entry(Data):
    job: str


class Chosen(Schedule):
    run: tuple[Entry, ...]


class Binaries(Model[Knapsack, Chosen]):
    """A binary a job, a row for the machine."""

    name: ClassVar[str] = "binaries"

    def build(self) -> None:
        m, jobs = self.pyomo, self.instance.jobs
        m.run = pyo.Var(range(len(jobs)), domain=pyo.Binary)
        m.machine = pyo.Constraint(expr=sum(job.gpus * m.run[j] for j, job in enumerate(jobs)) <= self.instance.gpus)
        m.objective = pyo.Objective(expr=sum(job.value * m.run[j] for j, job in enumerate(jobs)), sense=pyo.maximize)

    def encode(self, schedule: Chosen) -> None:
        chosen = {entry.job for entry in schedule.run}
        for j, job in enumerate(self.instance.jobs):
            self.pyomo.run[j].set_value(int(job.id in chosen))

    def decode(self) -> Chosen:
        jobs = self.instance.jobs
        return Chosen(run=tuple(Entry(job=jobs[j].id) for j, v in self.pyomo.run.items() if v.value > 0.5))


def greedy(instance: Knapsack, seed: int = 0, *, spare: object = None) -> Chosen:
    """Jobs by value a GPU."""
    free, run = instance.gpus, []
    for job in sorted(instance.jobs, key=lambda job: -job.value / job.gpus):
        if job.gpus <= free:
            free -= job.gpus
            run.append(Entry(job=job.id))
    return Chosen(run=tuple(run))


def random_jobs(jobs: int = 5, seed: int = 0) -> Knapsack:
    """Jobs of 1 to 4 GPUs on half as many as they ask for."""
    rng = Random(seed)
    drawn = tuple(Job(id=f"j{j}", gpus=rng.randint(1, 4), value=round(rng.uniform(1, 9), 3)) for j in range(jobs))
    return Knapsack(name=f"random-{jobs}-s{seed}", gpus=max(4, sum(job.gpus for job in drawn) // 2), jobs=drawn)


class KnapsackFamily(Family[Knapsack, Chosen]):
    """One machine, now."""

    name = "knapsack"
    instance = Knapsack
    schedules = (Chosen,)

    def evaluate(self, instance: Knapsack, schedule: Chosen) -> Evaluation:
        value = {job.id: job.value for job in instance.jobs}
        return Evaluation.of({"value": sum(value[entry.job] for entry in schedule.run)}, {"value": 1})

    def check(self, instance: Knapsack, schedule: Chosen) -> list[Violation]:
        gpus = {job.id: job.gpus for job in instance.jobs}
        found = list(job_violations((entry.job for entry in schedule.run), set(gpus)))
        over = sum(gpus.get(entry.job, 0) for entry in schedule.run) - instance.gpus
        return found + ([Violation("GPUs above the machine's", amount=over)] if over > 0 else [])

    def heuristics(self) -> dict[str, object]:
        return {"greedy": greedy}

    def formulations(self) -> dict[str, type[Binaries]]:
        return {"binaries": Binaries}

    def origins(self) -> Origins[Knapsack]:
        options = (Option("jobs", "In all.", int, 5, least=1),)
        return Origins({"knapsack-random": Scenario("Random jobs.", options, lambda: random_jobs)})


FAMILY = KnapsackFamily()
