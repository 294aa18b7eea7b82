"""Variable interaction network: which features act together, as nodes, edges and hyper-edges (Hooker 2004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from pdp_widgets.figures import Drawable
from pdp_widgets.inputs import InputError
from pdp_widgets.tabular import Tabular

from .interaction_result import Interactions

if TYPE_CHECKING:
    from .explainer import Explainer


@dataclass(frozen=True)
class InteractionNetwork(Tabular, Drawable):
    """Features as nodes; an edge where two act together, a hyper-edge where three do.

    Sizes are shares: a standard deviation over the rows, divided by that of the response.
    """

    threshold: float
    """Least share of an edge or hyper-edge that is shown."""
    output: str
    scale: str
    subgroup: str | None
    """The subgroup in words, None for all rows."""
    method: str
    """How the numbers were obtained."""
    all_nodes: pd.DataFrame = field(repr=False)
    all_edges: pd.DataFrame = field(repr=False)
    all_hyperedges: pd.DataFrame = field(repr=False)
    """Of triples only those are computed whose three pairs are all above the threshold asked for at first."""

    @property
    def edges(self) -> pd.DataFrame:
        """``feature_1``, ``feature_2``, ``strength``, ``share``: the strongest first."""
        return self.all_edges[self.all_edges["share"] >= self.threshold].reset_index(drop=True)

    @property
    def hyperedges(self) -> pd.DataFrame:
        """``feature_1`` to ``feature_3``, ``strength``, ``share``; all pairs of each are edges."""
        kept = {frozenset(pair) for pair in zip(self.edges["feature_1"], self.edges["feature_2"], strict=True)}
        rows = self.all_hyperedges
        names = rows[["feature_1", "feature_2", "feature_3"]].to_numpy()
        whole = [all(frozenset(pair) in kept for pair in combinations(triple, 2)) for triple in names]
        return rows[(rows["share"] >= self.threshold) & np.array(whole, dtype=bool)].reset_index(drop=True)

    @property
    def nodes(self) -> pd.DataFrame:
        """``feature``, ``main`` (share of its own effect), ``overall`` (share of its interactions), ``degree``."""
        ends = pd.concat([self.edges["feature_1"], self.edges["feature_2"]]).value_counts()
        return self.all_nodes.assign(degree=self.all_nodes["feature"].map(ends).fillna(0).astype(int))

    def to_frame(self, what: Literal["edges", "nodes", "hyperedges"] = "edges") -> pd.DataFrame:
        """Return ``edges``, ``nodes`` or ``hyperedges``.

        Raises
        ------
        InputError
            For another name.
        """
        if what not in ("edges", "nodes", "hyperedges"):
            raise InputError(f"to_frame({what!r}); expected 'edges', 'nodes' or 'hyperedges'")
        table: pd.DataFrame = getattr(self, what)
        return table

    def at(self, threshold: float) -> InteractionNetwork:
        """Return the network at another threshold, without computing anything anew.

        Raises
        ------
        InputError
            When it is not a share.
        """
        return replace(self, threshold=_share(threshold))

    def __repr__(self) -> str:
        """Say how much there is."""
        where = "" if self.subgroup is None else f"; subgroup {self.subgroup}"
        return (
            f"<InteractionNetwork of {self.output!r}: {len(self.all_nodes)} features, {len(self.edges)} edges, "
            f"{len(self.hyperedges)} hyper-edges of a share of {self.threshold:g} or more{where}; {self.method}>"
        )


def interaction_network(
    explainer: Explainer,
    features: Sequence[Any] | None = None,
    *,
    threshold: float = 0.05,
    rows: int | None = 500,
    subgroup: Any = None,
    output: Any = None,
    triples: bool = True,
    interactions: Interactions | None = None,
    progress: bool | None = None,
) -> InteractionNetwork:
    """Return which features act together.

    Parameters
    ----------
    explainer : Explainer
    features, rows, subgroup, progress
        As for ``Explainer.interactions``.
    threshold : float
        Least share of the response's standard deviation that makes an edge. ``network.at(threshold)`` changes it afterwards.
    output : name, class label or position, optional
        The explainer's default output by default.
    triples : bool
        Look for hyper-edges: three features whose three pairs are all edges.
    interactions : Interactions, optional
        What ``explainer.interactions`` returned, instead of computing it again: its features, rows and subgroup. Pairs that it
        does not have are no edges.

    Returns
    -------
    InteractionNetwork

    Raises
    ------
    InputError
        For a threshold that is no share, interactions of another explainer or not all computed, and whatever
        ``Explainer.interactions`` refuses.

    Notes
    -----
    Hooker (2004), "Discovering additive structure in black box functions"; strengths are those of Friedman & Popescu (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from pdp_widgets import Explainer
    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(200, 4))
    >>> network = Explainer(lambda X: X[:, 0] * X[:, 1] + X[:, 2], X).interaction_network()
    >>> network.edges[["feature_1", "feature_2"]].values.tolist()
    [['x0', 'x1']]
    """
    _share(threshold)
    if interactions is None:
        output = explainer.default_output if output is None else output
        found = explainer.interactions(features, rows=rows, subgroup=subgroup, output=output, progress=progress)
    else:
        if features is not None or subgroup is not None:
            raise InputError("interactions= has its own features and subgroup; say these where it is computed")
        found = _one_output(explainer, interactions, output)
    scale = float(found.response_strength[0]) or 1.0
    edges = found.to_frame()[["feature_1", "feature_2", "strength"]]
    edges = edges.assign(share=edges["strength"] / scale)
    nodes = pd.DataFrame(
        {
            "feature": list(found.features),
            "main": found.main_strength[0] / scale,
            "overall": found.overall_statistic.strength[0] / scale,
        }
    )
    hyperedges = _triples(explainer, found, edges, threshold, scale) if triples else _no_triples()
    return InteractionNetwork(
        float(threshold), found.outputs[0], found.scale, found.subgroup, found.method, nodes, edges, hyperedges
    )


def _one_output(explainer: Explainer, found: Interactions, output: Any) -> Interactions:
    """Return interactions that were computed before for one output, the explainer's default output by default."""
    if not isinstance(found, Interactions):
        raise InputError(f"interactions is a {type(found).__name__}; expected what Explainer.interactions returns")
    if not set(found.outputs) <= set(explainer.outputs) or found.rows.max() >= explainer.n_rows:
        raise InputError(f"{found!r} is of another explainer than {explainer!r}")
    if not found.complete:
        raise InputError(f"only {found.pairs_done} of {len(found.pairs)} pairs are computed; wait for all of them")
    if output is None and len(found.outputs) > 1:
        output = explainer.default_output
    return found if output is None else found.output(output)


def _triples(
    explainer: Explainer, found: Interactions, edges: pd.DataFrame, threshold: float, scale: float
) -> pd.DataFrame:
    """Return the triples whose pairs are all above the threshold, with their strengths at the same rows."""
    rows = np.zeros(explainer.n_rows, dtype=bool)
    rows[found.rows] = True
    kept = edges[edges["share"] >= threshold]
    linked = {frozenset(pair) for pair in zip(kept["feature_1"], kept["feature_2"], strict=True)}
    position = explainer.outputs.index(found.outputs[0])
    parts = []
    for triple in combinations(found.features, 3):
        if all(frozenset(pair) in linked for pair in combinations(triple, 2)):
            given = (found.given(name) for name in triple)
            strength = float(explainer.interaction(*given, rows=None, subgroup=rows).strength[position])
            parts.append((*triple, strength, strength / scale))
    table = pd.DataFrame(parts, columns=_no_triples().columns) if parts else _no_triples()
    return table.sort_values("strength", ascending=False, ignore_index=True)


def _no_triples() -> pd.DataFrame:
    names = {f"feature_{k}": pd.Series(dtype=object) for k in (1, 2, 3)}
    return pd.DataFrame({**names, "strength": pd.Series(dtype=float), "share": pd.Series(dtype=float)})


def _share(threshold: Any) -> float:
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise InputError(f"threshold={threshold!r}; expected a share of the response's standard deviation, 0 to 1")
    return float(threshold)
