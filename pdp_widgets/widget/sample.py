"""Which rows' own curves the page holds: a seeded sample, spread over the predictions."""

from __future__ import annotations

import numpy as np

__all__ = ["SAMPLE_ROWS", "stratified"]

SAMPLE_ROWS = 500


def stratified(predictions: np.ndarray, candidates: np.ndarray, seed: int, size: int = SAMPLE_ROWS) -> np.ndarray:
    """Choose rows so that high, middle and low predictions are all seen.

    Parameters
    ----------
    predictions : (n,) array
        Of all rows; NaN where not known.
    candidates : int array
        Rows to choose from, in random order.
    seed : int
    size : int

    Returns
    -------
    int32 array
        At most ``size`` row positions, ascending.
    """
    known = candidates[np.isfinite(predictions[candidates])]
    if len(candidates) <= size:
        chosen = candidates
    elif len(known) <= size:
        # Too few predictions to stratify by: the candidates' own order is random already.
        others = candidates[~np.isfinite(predictions[candidates])]
        chosen = np.concatenate([known, others])[:size]
    else:
        ranked = known[np.argsort(predictions[known], kind="stable")]
        edges = np.linspace(0, len(ranked), size + 1).astype(int)
        at = edges[:-1] + np.random.default_rng(seed).random(size) * np.diff(edges)
        chosen = ranked[at.astype(int)]
    return np.sort(chosen).astype(np.int32)
