"""Method: which way explanations take, and why.

For a sum of trees the numbers follow from the trees themselves, exactly; everything else is asked of the model. Nobody waits for
the decision: as long as the compiled loops are not ready, model calls serve.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING, Literal

import numpy as np

from pdp_widgets.inputs import InputError, PredictionError, model_name
from pdp_widgets.inputs.errors import warn
from pdp_widgets.trees.columns import unwrap
from pdp_widgets.trees.ensemble import UnreadableError
from pdp_widgets.trees.loading import loader
from pdp_widgets.trees.reading import require_trees

if TYPE_CHECKING:
    from pdp_widgets.trees.sums import TreeSums

    from .source import Source

Wish = Literal["auto", "trees", "model"]

WISHES = ("auto", "trees", "model")

_CHECKED_ROWS = 1000
_CHECK_SECONDS = 0.2  # a slow model is checked on fewer rows: nobody should wait for it


class Method:
    """The way taken for one model and its rows.

    Parameters
    ----------
    source : Source
    wish : {"auto", "trees", "model"}
        ``"trees"`` waits for the exact sums, ``"model"`` never uses them.
    """

    def __init__(self, source: Source, wish: Wish) -> None:
        self._about = weakref.ref(source)  # the source holds its method: a circle would keep X in memory
        self.wish = wish
        self._sums: TreeSums | None = None
        self._complaint: str | None = None
        self._refusal: str | None = None
        if wish == "model":
            self._refusal = "asked for"
            return
        try:
            self._require_sum()
        except UnreadableError as error:
            self._refusal = str(error)
            return
        loader.start()

    @property
    def _source(self) -> Source:
        source = self._about()
        assert source is not None, "a method without its source is asked for nothing"
        return source

    @property
    def refusal(self) -> str | None:
        """Return why model calls serve, None when the trees do or soon will."""
        if self._refusal is None and loader.state == "failed":
            return loader.reason
        return self._refusal

    @property
    def text(self) -> str:
        """Return which way is taken and why, in words."""
        if self.refusal is not None:
            return f"model calls: {self.refusal}"
        if self._sums is None and loader.state == "ready":
            with contextlib.suppress(PredictionError), self._source.lock:
                self.sums()
            if self._refusal is not None:
                return f"model calls: {self._refusal}"
        if self._sums is None:
            return "model calls until the compiled sums over trees are ready"
        ensemble = self._sums.ensemble
        kinds = f"{ensemble.n_trees:,} {'tree' if ensemble.n_trees == 1 else 'trees'}"
        if n_lines := len(ensemble.lines):
            kinds += f" and {n_lines:,} linear {'term' if n_lines == 1 else 'terms'}"
        return f"trees: exact sums over the {kinds} of {self._sums.family}"

    def sums(self) -> TreeSums | None:
        """Return the exact sums, None while (or because) model calls serve.

        Raises
        ------
        InputError
            When the trees were asked for and cannot serve.
        PredictionError
            When the model fails on rows that the reading is checked with.
        """
        if self._sums is None and self.refusal is None:
            if self.wish == "trees":
                loader.wait()
            if loader.state == "ready":
                with self._source.lock:
                    if self._sums is None and self._refusal is None:
                        self._read()
        if self._complaint is not None:
            complaint, self._complaint = self._complaint, None
            warn(complaint)
        if self.wish == "trees" and self._sums is None:
            raise InputError(f"method='trees' cannot serve here: {self.refusal}")
        return self._sums

    def wait(self) -> TreeSums | None:
        """Return the exact sums, waiting for them where they will come; None when the model is asked."""
        if self.refusal is None:
            loader.wait()
        with self._source.lock:
            return self.sums()

    def loading(self, seconds: float) -> bool:
        """Return whether the sums over trees are still on their way after so many seconds: ``wait`` would wait for them."""
        if self.refusal is not None or loader.state != "loading":
            return False
        loader.wait(seconds)
        return loader.state == "loading"

    def require(self, what: str) -> TreeSums:
        """Return the exact sums for what cannot be had without, waiting for them.

        Raises
        ------
        InputError
            When there are none, with the reason.
        """
        sums = self.wait()
        if sums is None:
            raise InputError(f"{what} needs the exact sums over trees, but these are {self.text}")
        return sums

    # ---- helpers -------------------------------------------------------------------------

    def _require_sum(self) -> None:
        """Raise unless the response may be a sum of trees; cheap, nothing is read yet."""
        response = self._source.response
        if response.asks is None:
            raise UnreadableError("the response is a function, whose trees, if any, cannot be seen")
        if response.scale == "predicted class":
            raise UnreadableError("predicted class labels are votes, not a sum")
        if response.scale == "log-odds":
            raise UnreadableError(
                "log-odds of probabilities near 0 and 1 magnify rounding, so they are the model's own "
                "(response='decision' gives those of boosted trees exactly)"
            )
        require_trees(unwrap(response.model)[1])

    def _read(self) -> None:
        from pdp_widgets.trees.sums import TreeSums

        source = self._source
        assert source.response.asks is not None
        try:
            sums = TreeSums(source.table, source.response.model, source.response.asks)
        except UnreadableError as error:
            self._refusal = str(error)
            return
        off = self._mismatch(sums)
        if off is None:
            self._sums = sums
            return
        self._refusal = f"its trees, as read here, do not give its predictions ({off})"
        self._complaint = (
            f"{model_name(source.response.model)} was read as a sum of {sums.ensemble.n_trees} trees that does not give "
            f"its own predictions ({off}); the model is asked instead, which is slower but right. A model that was fitted again needs a new explainer"
        )

    def _mismatch(self, sums: TreeSums) -> str | None:
        """Compare the sums with the model on random background rows; return what is off, if anything."""
        source = self._source
        rows = source.order[:_CHECKED_ROWS]
        source.learn(rows, _CHECK_SECONDS)
        rows = rows[source.known[rows]]
        asked, summed = source.predictions[:, rows], sums.predict(rows)
        if asked.shape != summed.shape:
            return f"{len(summed)} outputs instead of {len(asked)}"
        good = np.isfinite(asked).all(axis=0)
        if not good.any():
            return "the model predicts no finite number for the rows compared"
        if (good != np.isfinite(summed).all(axis=0)).any():
            return "the model predicts numbers for other rows than its trees do"
        scale = float(np.abs(asked[:, good]).max())
        if sums.linear:  # what is added up may be much larger than its sum
            scale = max(scale, float(np.abs(sums.ensemble.base).max()))
        # A learner that answers in float32 also adds its trees up in it.
        single = bool((asked[:, good] == asked[:, good].astype(np.float32)).all())
        allowed = max(1e-6, 4 * np.finfo(np.float32).eps * sums.ensemble.n_trees**0.5) if single else 1e-10
        gaps = np.abs(asked - summed)[:, good].max(axis=0)
        wrong = np.count_nonzero(~(gaps <= allowed * scale))  # NaN is wrong, too
        return f"{wrong} of {len(rows)} rows differ, by up to {gaps.max():.3g}" if wrong else None
