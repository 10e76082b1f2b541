"""The networks of OSDEC and its ablations, forward and in NumPy: what acts. In torch, for training: `modules.py`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from optsched.instances.base import Floats

Arrays = Mapping[str, np.ndarray]


def linear(arrays: Arrays, name: str, x: Floats) -> Floats:
    """An affine layer."""
    return np.asarray(x @ arrays[f"{name}.weight"].T + arrays[f"{name}.bias"])


def normalised(arrays: Arrays, name: str, x: Floats) -> Floats:
    """Layer normalisation over the last axis."""
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return np.asarray((x - mean) / np.sqrt(var + 1e-5) * arrays[f"{name}.weight"] + arrays[f"{name}.bias"])


def sigmoid(x: Floats) -> Floats:
    """The logistic function."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


def softmax(x: Floats) -> Floats:
    """Over the last axis."""
    raised = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def recalled(arrays: Arrays, past: Floats) -> tuple[Floats, Floats]:
    """Low-level (shared layer) and high-level (task layers) features of the auxiliary tasks, from the past, shape (L, R)."""
    hidden = np.zeros(arrays["aux.gru.weight_hh_l0"].shape[1])
    given = past @ arrays["aux.gru.weight_ih_l0"].T + arrays["aux.gru.bias_ih_l0"]
    for row in given:
        said = arrays["aux.gru.weight_hh_l0"] @ hidden + arrays["aux.gru.bias_hh_l0"]
        (ri, zi, ni), (rh, zh, nh) = np.split(row, 3), np.split(said, 3)
        reset, keep = sigmoid(ri + rh), sigmoid(zi + zh)
        hidden = (1 - keep) * np.tanh(ni + reset * nh) + keep * hidden
    low = np.tanh(linear(arrays, "aux.shared", hidden))
    return low, np.tanh(linear(arrays, "aux.tasks", low))


def attended(arrays: Arrays, x: Floats) -> Floats:
    """Encoder layers: self-attention of one head, then a feed-forward network; residual, then normalised; shape (J, D)."""
    x, k = linear(arrays, "encode", x), 0
    while f"layers.{k}.query.weight" in arrays:
        name = f"layers.{k}"
        query, key, value = (linear(arrays, f"{name}.{part}", x) for part in ("query", "key", "value"))
        mixed = softmax(query @ key.T / np.sqrt(query.shape[-1])) @ value
        x = normalised(arrays, f"{name}.first", x + linear(arrays, f"{name}.out", mixed))
        wide = np.maximum(0, linear(arrays, f"{name}.wide", x))
        x = normalised(arrays, f"{name}.second", x + linear(arrays, f"{name}.narrow", wide))
        k += 1
    return x


def pointed(arrays: Arrays, x: Floats) -> Floats:
    """PointerNet: jobs one after the other through an LSTM, and how well each answers what the last state asks, shape (J,)."""
    size = arrays["lstm.weight_hh_l0"].shape[1]
    hidden, cell, states = np.zeros(size), np.zeros(size), []
    for row in x @ arrays["lstm.weight_ih_l0"].T + arrays["lstm.bias_ih_l0"] + arrays["lstm.bias_hh_l0"]:
        enter, forget, new, leave = np.split(row + arrays["lstm.weight_hh_l0"] @ hidden, 4)
        cell = sigmoid(forget) * cell + sigmoid(enter) * np.tanh(new)
        hidden = sigmoid(leave) * np.tanh(cell)
        states.append(hidden)
    asked = linear(arrays, "asks", hidden)
    return linear(arrays, "points", np.tanh(linear(arrays, "answers", np.array(states)) + asked))[:, 0]


def scored(arrays: Arrays, jobs: Floats, whole: Floats, past: Floats) -> Floats:
    """The mean confidence of each job, shape (J,): what is done without exploration.

    Parameters
    ----------
    arrays
        Weights by the names that torch gives them.
    jobs, whole, past
        What is seen, shapes (J, F), (G,) and (L, R).
    """
    if not len(jobs):
        return np.zeros(0)
    if "aux.gru.weight_hh_l0" in arrays:
        low, high = recalled(arrays, past)
        priors = {"prior.low": low, "prior.high": high}
        whole = np.concatenate([whole, *(feature * arrays[name] for name, feature in priors.items() if name in arrays)])
    x = np.concatenate([jobs, np.broadcast_to(whole, (len(jobs), len(whole)))], axis=1)
    if "fixed.0.weight" in arrays:
        slots = arrays["mean.weight"].shape[0]
        held = min(slots, len(jobs))
        padded = np.zeros((slots, jobs.shape[1]))
        padded[:held] = jobs[:held]
        hidden = np.concatenate([padded.ravel(), whole])
        for layer in ("fixed.0", "fixed.2"):
            hidden = np.tanh(linear(arrays, layer, hidden))
        found = np.full(len(jobs), -1.0)  # those that it has no place for come last
        found[:held] = np.tanh(linear(arrays, "mean", hidden))[:held]
        return found
    if "lstm.weight_hh_l0" in arrays:
        return np.tanh(pointed(arrays, x))
    return np.tanh(linear(arrays, "mean", attended(arrays, x))[:, 0])
