"""Statistic: numbers of interactions, from effects at the rows.

What a joint effect has beyond its parts, as a share and in the unit of the response, with standard errors, and below which variance it
is rounding. Which effects are put together is the business of ``interaction.py`` and ``importance.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Statistic:
    """Numbers of one kind, such as those of all pairs; arrays of one shape, (n_outputs, number of sets of features)."""

    h2: np.ndarray
    """Interaction's share of the joint effect's variance; NaN where not computed. Above 1 when features depend on each other."""
    strength: np.ndarray
    """Root of the interaction's variance, in the unit of the response."""
    h2_stderr: np.ndarray
    strength_stderr: np.ndarray

    @property
    def h(self) -> np.ndarray:
        """Return the root of ``h2``."""
        return np.sqrt(self.h2)

    @property
    def dependent(self) -> np.ndarray:
        """Bool: ``h2`` above 1, which happens when features depend on each other."""
        return self.h2 > 1 + 1e-9

    def __getitem__(self, outputs: slice) -> Statistic:
        """Return the numbers of some outputs."""
        return Statistic(*(array[outputs] for array in vars(self).values()))

    def columns(self, output: int) -> dict[str, np.ndarray]:
        """Return the columns of a table for one output."""
        return {
            "h2": self.h2[output],
            "h": self.h[output],
            "strength": self.strength[output],
            "h2_stderr": self.h2_stderr[output],
            "strength_stderr": self.strength_stderr[output],
            "dependent": self.dependent[output],
        }


def statistic_of(interaction: np.ndarray, joint: np.ndarray, weights: np.ndarray, zero: np.ndarray) -> Statistic:
    """Return one statistic, (n_outputs,) arrays, from uncentred effects, (n_outputs, 1 + groups, n); NaN below two rows."""
    numerator, denominator = (_variance(values, weights) for values in (interaction, joint))
    numerator[numerator <= zero[:, None]] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        h2 = np.where(numerator == 0, 0.0, numerator / denominator)
    strength = np.sqrt(numerator)
    return Statistic(h2[:, 0], strength[:, 0], _stderr(h2[:, 1:]), _stderr(strength[:, 1:]))


def spread(values: np.ndarray, weights: np.ndarray, zero: np.ndarray) -> np.ndarray:
    """(n_outputs,) standard deviation over the rows, 0 where it is rounding, NaN below two rows."""
    variance = _variance(values, weights)[:, 0]
    return np.sqrt(np.where(variance <= zero, 0.0, variance))


def _variance(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(n_outputs, 1 + groups) weighted variance over the rows, NaN where there is one only.

    A row without weight does not count, whatever its value.
    """
    values = np.where(weights > 0, values, 0.0)
    centred = np.where(weights > 0, values - (weights * values).sum(axis=-1, keepdims=True), 0.0)
    several = np.count_nonzero(weights, axis=-1) > 1
    return np.where(several, (weights * np.square(centred)).sum(axis=-1), np.nan)


def _stderr(left_out: np.ndarray) -> np.ndarray:
    """Return the delete-a-group jackknife's standard error, NaN when there are too few groups to tell."""
    groups = left_out.shape[1]
    known = np.isfinite(left_out).all(axis=1) & (groups > 1)
    left_out = np.where(known[:, None], left_out, 0.0)
    apart = np.square(left_out - left_out.mean(axis=1, keepdims=True)).sum(axis=1) if groups else np.zeros(len(known))
    return np.where(known, np.sqrt(max(groups - 1, 0) / max(groups, 1) * apart), np.nan)


def rounding(prediction: np.ndarray) -> np.ndarray:
    """(n_outputs,) the variance up to which it is rounding, 16 (eps max|f|)^2, in the precision the model answers in."""
    # Whole numbers up to 2^24 are exact in float32 and no sign of it.
    whole = bool((prediction == np.rint(prediction)).all()) and np.abs(prediction).max() <= 2**24
    single = bool((prediction == prediction.astype(np.float32)).all()) and not whole
    eps = np.finfo(np.float32 if single else float).eps
    return 16 * np.square(eps * np.abs(prediction).max(axis=1))


def stacked(found: list[Statistic], length: int, n_outputs: int) -> Statistic:
    """Return (n_outputs, length) arrays, NaN where not computed."""
    unknown = np.full((n_outputs, length - len(found)), np.nan)

    def stack(name: str) -> np.ndarray:
        known = np.stack([getattr(s, name) for s in found], axis=1) if found else np.empty((n_outputs, 0))
        return np.concatenate([known, unknown], axis=1)

    return Statistic(*(stack(name) for name in Statistic.__dataclass_fields__))
