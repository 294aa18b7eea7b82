"""`reference`: the API reference as web pages, made by pdoc from the docstrings."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

__all__ = ["MODULES", "add", "run"]

MODULES = (
    "pdp_widgets",
    "pdp_widgets.bqplot",
    "pdp_widgets.datasets",
    "pdp_widgets.figures",
    "pdp_widgets.plot",
    "pdp_widgets.tabular",
    "pdp_widgets.widget.traits",
    "pdp_widgets.explain.background",
    "pdp_widgets.explain.explanation",
    "pdp_widgets.explain.results",
    "pdp_widgets.explain.ale",
    "pdp_widgets.explain.importance_result",
    "pdp_widgets.explain.interaction_result",
    "pdp_widgets.explain.network",
    "pdp_widgets.explain.null",
    "pdp_widgets.explain.decomposition",
    "pdp_widgets.explain.comparison_results",
    "pdp_widgets.explain.region_results",
    "pdp_widgets.explain.trust_result",
    "pdp_widgets.explain.residuals",
    "pdp_widgets.explain.complexity",
    "pdp_widgets.explain.rules",
    "pdp_widgets.explain.scaleout",
    "pdp_widgets.explain.scaleout_result",
    "pdp_widgets.rulefit.estimator",
    "pdp_widgets.rulefit.terms",
    "pdp_widgets.rulefit.importance",
    "pdp_widgets.rulefit.overlap",
    "pdp_widgets.rulefit.row",
    "pdp_widgets.rulefit.stability",
    "pdp_widgets.inputs.errors",
)
"""What users meet: the public names, and the modules of the objects that these return."""


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "reference",
        help="write the API reference as web pages",
        description="Write the API reference as web pages, from the docstrings (needs pdoc, a part of the extra dev).",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the pages go; made if need be")
    return parser


def run(given: argparse.Namespace) -> int:
    """Write the pages."""
    try:
        import pdoc
        import pdoc.render
    except ImportError:
        print(
            'pdp_widgets: the reference needs pdoc, which is not installed: python -m pip install "pdp_widgets[dev]" or pdoc alone',
            file=sys.stderr,
        )
        return 1
    from pdp_widgets.rulefit import estimator

    # What regressor and classifier share is documented in a class that is not for use by itself; pdoc leaves such out unless told.
    shared = estimator._RuleFit  # noqa: SLF001
    shared.__doc__ = f"{shared.__doc__}\n\n@public"
    pdoc.render.configure(docformat="numpy", show_source=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of inherited annotations that pdoc looks for in the wrong module
        pdoc.pdoc(*MODULES, output_directory=given.folder)
    print(f"wrote {given.folder / 'pdp_widgets.html'}")
    return 0
