"""The networks of OSDEC and its ablations in torch: one class, put together from what a `Shape` names."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from optsched.rl.deferrable.past import ROW, TARGETS
from optsched.rl.deferrable.state import JOB, WHOLE

LEAST_SCALE = 0.05  # of a score: who is sure explores a little all the same


@dataclass(frozen=True)
class Shape:
    """Which parts there are.

    Attributes
    ----------
    encoder
        ``attention`` (Transformer encoder), ``mlp`` (a fixed number of jobs side by side) or ``pointer`` (PointerNet).
    low, high
        Whether the auxiliary tasks' shared and task layers are joined to the state.
    width, layers
        Of the encoder.
    most
        Jobs at a time in training, and of the fixed-length network for good.
    prior
        Dimension of each of the two features, and `weight` what they are multiplied by (Table 3).
    """

    encoder: str = "attention"
    low: bool = True
    high: bool = True
    width: int = 32
    layers: int = 2
    most: int = 64
    prior: int = 5
    weight: float = 10.0


class Auxiliary(nn.Module):  # type: ignore[misc]
    """A GRU over the past, a shared layer, a layer of the tasks, and what the next decision will see."""

    def __init__(self, shape: Shape, hidden: int = 32) -> None:
        super().__init__()
        self.gru = nn.GRU(ROW, hidden, batch_first=True)
        self.shared = nn.Linear(hidden, shape.prior)
        self.tasks = nn.Linear(shape.prior, shape.prior)
        self.predict = nn.Linear(shape.prior, TARGETS)

    def forward(self, past: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Low-level features, high-level features, and the prediction; shapes (B, P), (B, P), (B, targets)."""
        low = torch.tanh(self.shared(self.gru(past)[0][:, -1]))
        high = torch.tanh(self.tasks(low))
        return low, high, self.predict(high)


class Layer(nn.Module):  # type: ignore[misc]
    """One-headed self-attention, then a feed-forward network."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: Tensor, held: Tensor) -> Tensor:
        """Mix x, of shape (B, K, D); `held` says which of the K places hold a job."""
        weights = self.query(x) @ self.key(x).transpose(1, 2) / math.sqrt(x.shape[-1])
        weights = weights.masked_fill(~held[:, None, :], -1e9).softmax(-1)
        x = self.first(x + self.out(weights @ self.value(x)))
        return self.second(x + self.narrow(functional.relu(self.wide(x))))


class Scorer(nn.Module):  # type: ignore[misc]
    """Mean and scale of every job's confidence, and the value of the state."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        whole = WHOLE + shape.prior * (shape.low + shape.high)
        if shape.low or shape.high:
            self.aux = Auxiliary(shape)
            self.prior = nn.ParameterDict(
                {
                    name: nn.Parameter(torch.full((1,), shape.weight), requires_grad=False)
                    for name, wanted in (("low", shape.low), ("high", shape.high))
                    if wanted
                }
            )
        width, inputs = shape.width, JOB + whole
        outputs = 1
        if shape.encoder == "mlp":
            flat, outputs, width = shape.most * JOB + whole, shape.most, 4 * width
            self.fixed = nn.Sequential(nn.Linear(flat, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        elif shape.encoder == "pointer":
            self.lstm = nn.LSTM(inputs, width, batch_first=True)
            self.asks, self.answers, self.points = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, 1)
        else:
            self.encode = nn.Linear(inputs, width)
            self.layers = nn.ModuleList(Layer(width) for _ in range(shape.layers))
        if shape.encoder != "pointer":
            self.mean = nn.Linear(width, outputs)
        self.scale, self.value = nn.Linear(width, outputs), nn.Linear(width, 1)
        with torch.no_grad():
            self.scale.weight.mul_(0.1)
            self.scale.bias.fill_(-1.0)

    def joined(self, whole: Tensor, past: Tensor) -> Tensor:
        """The whole with the features of the auxiliary tasks, which the policy's loss does not reach."""
        if not (self.shape.low or self.shape.high):
            return whole
        with torch.no_grad():
            low, high, _ = self.aux(past)
        features = (("low", low), ("high", high))  # a ParameterDict has an order of its own
        return torch.cat([whole, *(feature * self.prior[name] for name, feature in features if name in self.prior)], dim=1)

    def forward(self, jobs: Tensor, held: Tensor, whole: Tensor, past: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Means and scales of shape (B, K), values of shape (B,).

        Parameters
        ----------
        jobs, held, whole, past
            Shapes (B, K, F), (B, K), (B, G), (B, L, R); `held` says which of the K places hold a job.
        """
        whole = self.joined(whole, past)
        if self.shape.encoder == "mlp":
            hidden = self.fixed(torch.cat([(jobs * held[..., None]).flatten(1), whole], dim=1))
            return torch.tanh(self.mean(hidden)), self._scale(hidden), self.value(hidden)[:, 0]
        x = torch.cat([jobs, whole[:, None, :].expand(-1, jobs.shape[1], -1)], dim=2)
        count = held.sum(1)
        if self.shape.encoder == "pointer":
            states = self.lstm(x)[0]
            last = states[torch.arange(len(x)), (count - 1).clamp(min=0)]
            mean = self.points(torch.tanh(self.answers(states) + self.asks(last)[:, None, :]))[..., 0]
            x = states
        else:
            x = self.encode(x)
            for layer in self.layers:
                x = layer(x, held)
            mean = self.mean(x)[..., 0]
        value = (self.value(x)[..., 0] * held).sum(1) / count.clamp(min=1)
        return torch.tanh(mean), self._scale(x)[..., 0], value

    def _scale(self, x: Tensor) -> Tensor:
        return functional.softplus(self.scale(x)) + LEAST_SCALE
