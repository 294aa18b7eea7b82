"""Links: how the response follows from the raw sums of an ensemble.

A link acts on (n_raw, ...) arrays of any trailing shape, so curves, grids and rows need no reshaping. The functions
stand at module level and parameters are bound by ``partial``: a link pickles with what carries it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit


@dataclass(frozen=True)
class Link:
    """How the response follows from the raw sums."""

    name: str
    linear: bool
    """Whether outputs are affine in the raw sums: an average may then be taken before or after."""
    apply: Callable[[np.ndarray], np.ndarray]
    """(n_raw, ...) float64 -> (n_outputs, ...) float64; it never writes its input."""


def _identity(raw: np.ndarray) -> np.ndarray:
    return raw


def _signed_square(raw: np.ndarray) -> np.ndarray:
    return raw * np.abs(raw)


def _softplus(raw: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, raw)


def _sigmoid(raw: np.ndarray, scale: float) -> np.ndarray:
    second = expit(scale * raw)
    return np.concatenate([1 - second, second])


def _logistic(raw: np.ndarray, scale: float) -> np.ndarray:
    return expit(scale * raw)


def _softmax(raw: np.ndarray, scale: float) -> np.ndarray:
    scaled = raw * scale
    powers = np.exp(scaled - scaled.max(axis=0))
    return powers / powers.sum(axis=0)


def _one_vs_rest(raw: np.ndarray, scale: float) -> np.ndarray:
    each = expit(scale * raw)
    return each / each.sum(axis=0)


def _samme_two(raw: np.ndarray) -> np.ndarray:
    return _softmax(np.concatenate([-raw, raw]), 0.5)


def _exp_single(raw: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        powers = np.exp(raw)
        powers[powers > np.finfo(np.float32).max] = np.inf
    return powers


def _isolation(depths: np.ndarray, expected: float, offset: float) -> np.ndarray:
    # With a single training row the expected depth is 0; scikit-learn then sets every score to -1/2.
    relative = depths / expected if expected else np.ones_like(depths)
    return -np.power(2.0, -relative) - offset


IDENTITY = Link("identity", linear=True, apply=_identity)
EXP = Link("exp", linear=False, apply=np.exp)
EXP_SINGLE = Link("exp", linear=False, apply=_exp_single)
"""Of learners that answer in float32: beyond its range they answer infinity."""
SIGNED_SQUARE = Link("signed square", linear=False, apply=_signed_square)
"""Of a regression on the signed root of its target."""
SOFTPLUS = Link("log(1 + exp)", linear=False, apply=_softplus)


def sigmoid(scale: float = 1.0) -> Link:
    """Return the link of two classes: one raw sum r becomes [1 - p, p] with p = expit(scale r)."""
    return Link("sigmoid", linear=False, apply=partial(_sigmoid, scale=scale))


def logistic(scale: float = 1.0) -> Link:
    """Return the link that squeezes each raw sum r by itself into expit(scale r), output by output."""
    return Link("logistic", linear=False, apply=partial(_logistic, scale=scale))


def softmax(scale: float = 1.0) -> Link:
    """Return the link of several classes: probabilities in proportion to exp(scale r)."""
    return Link("softmax", linear=False, apply=partial(_softmax, scale=scale))


def one_vs_rest(scale: float = 1.0) -> Link:
    """Return the link of one sigmoid per class, divided by their sum."""
    return Link("one-vs-rest sigmoid", linear=False, apply=partial(_one_vs_rest, scale=scale))


def samme(n_classes: int) -> Link:
    """Return AdaBoost's link from decision values to class probabilities (Zhu et al., 2009, eq. 15).

    Two classes have one decision value, more have one each.
    """
    if n_classes == 2:
        return Link("SAMME", linear=False, apply=_samme_two)
    return Link("SAMME", linear=False, apply=partial(_softmax, scale=1 / (n_classes - 1)))


def isolation(expected: float, offset: float) -> Link:
    """Return an isolation forest's link from the sum of depths to its decision value.

    Parameters
    ----------
    expected : float
        The sum of depths that is expected of an average row.
    offset : float
        The score that separates inliers from outliers.
    """
    return Link("isolation score", linear=False, apply=partial(_isolation, expected=expected, offset=offset))


SIGMOID = sigmoid()
LOGISTIC = logistic()
SOFTMAX = softmax()
EXPONENTIAL_LOSS = sigmoid(2.0)
"""Of boosting with the exponential loss, whose raw sums are half log-odds."""
ONE_VS_REST = one_vs_rest()
