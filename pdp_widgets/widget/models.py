"""Models: several of them on one page, of which one is looked at.

Each has an explainer from the start, and a controller with a board and caches of its own from the first look at it. The controller of
a model that is not on the page rests and is not heard; going back to it is instant, because what it had computed is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pdp_widgets.explain import Explainer
from pdp_widgets.explain.alignment import (
    counterpart,
    explainers_of,
    require_one_scale,
    require_same_rows,
    shared_outputs,
)
from pdp_widgets.inputs import InputError, model_name
from pdp_widgets.inputs.errors import unknown_name

from .controller import Controller
from .panels import OtherModel
from .traits import WidgetInputError

if TYPE_CHECKING:
    import threading

    from .controller import Arrangement
    from .screen import Page

__all__ = ["Models", "read"]


def read(model: Any, X: Any, y: Any, options: dict[str, Any]) -> dict[str, Explainer]:
    """Return the explainers of what a widget is made of, by name; one model that was given without a name has the name "".

    Parameters
    ----------
    model : model, Explainer, or several of either as a mapping of name to model or a list
        In a list they are named by their class, numbered when repeated.
    X, y
        The rows and their outcome; left out where explainers are given.
    options : dict
        For the explainers that are made here.

    Raises
    ------
    InputError
        When models do not fit on one page: other rows, features or scales, no output in common.
    TypeError
        When X is missing, or given a second time.
    """
    if not isinstance(model, Mapping | list | tuple):
        return {"": _one(model, X, y, options)}
    named = _named(model)
    if len(named) == 1:
        return {name: _one(one, X, y, options) for name, one in named.items()}
    if X is None and not all(isinstance(one, Explainer) for one in named.values()):
        raise TypeError("PDPWidget(models, X): X is missing, the rows to average over")
    explainers = explainers_of(model, X, options if y is None else options | {"y": y}, caller="PDPWidget")
    require_same_rows(explainers, model, X)
    _require_same_features(explainers)
    require_one_scale(explainers)
    shared_outputs(explainers)
    return explainers


def _one(model: Any, X: Any, y: Any, options: dict[str, Any]) -> Explainer:
    if isinstance(model, Explainer):
        if X is not None or y is not None or options:
            raise TypeError("PDPWidget(explainer) takes no X, y or explainer options: the explainer has its own")
        return model
    if X is None:
        raise TypeError("PDPWidget(model, X): X is missing, the rows to average over")
    return Explainer(model, X, y, **options)


def _named(models: Any) -> dict[str, Any]:
    """Return models by name, "" for those in a list; complain of names that are none."""
    if not models:
        raise InputError("models: given none; expected a model, or several in a list or a mapping of name to model")
    if not isinstance(models, Mapping):
        return {str(k): one for k, one in enumerate(models)} if len(models) > 1 else {"": models[0]}
    named = {str(name): one for name, one in models.items()}
    if len(named) < len(models):
        raise InputError(f"models: two of the names {list(models)!r} are the same as text")
    if not all(name.strip() for name in named):
        raise InputError("models: a name is empty; names stand in the page's menu of models")
    return named


def _require_same_features(explainers: dict[str, Explainer]) -> None:
    (reference, first), *others = explainers.items()
    for name, one in others:
        if list(one.features) != list(first.features):
            odd = sorted(set(one.features) ^ set(first.features))
            what = f"only one of them has {odd[0]!r}" if odd else "they are in another order"
            raise InputError(
                f"the explainers of {name!r} and {reference!r} have other features: {what}; make both with the same features="
            )
        for feature in first.features.values():
            kind = one.features[feature.name].kind
            if kind != feature.kind:
                raise InputError(
                    f"the explainers of {name!r} and {reference!r} take {feature.name!r} for something else: {kind} and "
                    f"{feature.kind}; make both with the same X and features="
                )


class Models:
    """The models of one page, and which of them is on it.

    Parameters
    ----------
    explainers : dict of str to Explainer
    page : Page
    lock : threading.RLock
        Shared by all controllers: held while the state on screen changes or a picture of it is made.
    """

    def __init__(self, explainers: dict[str, Explainer], page: Page, lock: threading.RLock) -> None:
        self.explainers = MappingProxyType(explainers)
        self.name = next(iter(explainers))
        """Of the model on the page."""
        self._page, self._lock = page, lock
        self._controllers: dict[str, Controller] = {}

    @property
    def explainer(self) -> Explainer:
        """The explainer of the model on the page."""
        return self.explainers[self.name]

    @property
    def title(self) -> str:
        """What the model on the page is called."""
        return self.name or model_name(self.explainer.model)

    @property
    def several(self) -> list[str]:
        """All names where there is something to choose, else none."""
        return list(self.explainers) if len(self.explainers) > 1 else []

    @property
    def mark(self) -> str:
        """What tells this model's curves from others': its name where there are several, else ""."""
        return self.name if self.several else ""

    def known(self, given: Any) -> str:
        """Return the name that is meant; an empty one is the model on the page.

        Raises
        ------
        WidgetInputError
            For another name.
        """
        if given is None or (isinstance(given, str) and not given):
            return self.name
        if not isinstance(given, str) or given not in self.explainers:
            names = [name for name in self.explainers if name]
            if not names:
                raise WidgetInputError(
                    f"model={given!r}; this widget has one model without a name: PDPWidget({{'name': model, ...}}, X) has several"
                )
            raise WidgetInputError(str(unknown_name("model", given, names, "one of the widget's models")))
        return given

    def output(self, name: str, output: str) -> str:
        """Return the output of a model that means the same as one of the model on the page, else its default."""
        one, other = self.explainer, self.explainers[name]
        at = counterpart(one, one.outputs.index(output), other)
        return other.default_output if at is None else other.outputs[at]

    def first(self, feature: str, output: str) -> Controller:
        """Return the controller of the model that the page begins with."""
        return self._controller(feature, output, leads=True)

    def turn_to(self, name: str, now: Arrangement) -> Controller:
        """Put another model on the page and its predecessor to rest; return its controller.

        Parameters
        ----------
        name : str
        now : Arrangement
            What is in focus, selected and open, with an output of that model.
        """
        with self._lock:
            before = self._controllers[self.name]
            self.name = name  # from now on the page hears of this one only
            before.leave()
            controller = self._controllers.get(name) or self._controller(now.feature, now.output, leads=False)
            controller.come(now)
            return controller

    def close(self) -> None:
        """Stop for good."""
        for controller in self._controllers.values():
            controller.close()

    def _controller(self, feature: str, output: str, *, leads: bool) -> Controller:
        others = tuple(
            OtherModel(name, at, one) for at, (name, one) in enumerate(self.explainers.items()) if name != self.name
        )
        door = _Door(self, self.name, self._page)
        made = Controller(self.explainer, door, feature, output, self._lock, others=others, leads=leads)
        self._controllers[self.name] = made
        return made


class _Door:
    """Between a controller and the page: what comes from a model that is not on the page is not heard."""

    def __init__(self, models: Models, name: str, page: Page) -> None:
        self._models, self._name, self._page = models, name, page

    @property
    def _open(self) -> bool:
        return self._models.name == self._name

    def publish(self, **traits: Any) -> None:
        if self._open:
            self._page.publish(**traits)

    def lead(self, feature: str) -> None:
        if self._open:
            self._page.lead(feature)

    def curves_complete(self, feature: str) -> None:
        if self._open:
            self._page.curves_complete(feature)
