"""The quickstart in a real JupyterLab: the mouse on the page, the answer in Python, and the other way round."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from widget_page import WidgetOnPage

if TYPE_CHECKING:
    from lab import Lab, Notebook
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
TWO_WIDGETS = """
from sklearn.linear_model import LinearRegression
from pdp_widgets import PDPWidget, datasets
X, y = datasets.diabetes()
one, two = PDPWidget(LinearRegression().fit(X, y), X), PDPWidget(LinearRegression().fit(X, y), X)
import ipywidgets
ipywidgets.VBox([one, two])
"""


@pytest.fixture(scope="module")
def quickstart(browser: Browser, jupyter_lab: Lab) -> Iterator[Notebook]:
    """The quickstart notebook, run from top to bottom."""
    context = browser.new_context(viewport={"width": 1400, "height": 1200})
    notebook = jupyter_lab.open(context.new_page(), NOTEBOOKS / "quickstart.ipynb")
    notebook.run_all()
    yield notebook
    notebook.shutdown()
    context.close()


@pytest.fixture
def widget(quickstart: Notebook) -> WidgetOnPage:
    """The quickstart's widget at rest: nothing selected, BMI in focus."""
    quickstart.ask("[widget.select(None), setattr(widget, 'feature', 'bmi')]")
    shown = WidgetOnPage(quickstart.page)
    shown.root.scroll_into_view_if_needed()
    shown.find("title").get_by_text("bmi", exact=True).wait_for()
    shown.wait_until_exact()
    quickstart.page.wait_for_function("node => node.dataset.n === ''", arg=shown.find("selection-n").element_handle())
    return shown


def test_quickstart_draws_and_converges(quickstart: Notebook, widget: WidgetOnPage) -> None:
    assert "442 of 442" in widget.find("rows").inner_text()
    assert widget.pixels("curves")[0][0] > 3000, "the curves are not drawn"
    assert widget.pixels("histogram")[0][0] > 1000, "the histogram is not drawn"
    assert widget.root.get_by_test_id("feature").count() == 10
    assert quickstart.errors == []


def test_in_the_kernel_the_widget_s_explainer_sums_over_trees(quickstart: Notebook, widget: WidgetOnPage) -> None:
    assert quickstart.wait_until("widget.explainer.method.startswith('trees: exact sums over the 100 trees')", 60)
    # What is on the page equals the sums, however it was computed before they were ready.
    assert quickstart.ask("widget.explainer.partial_dependence('bmi', grid='steps').method") == "exact sums over trees"
    gap = quickstart.ask(
        "float(abs(widget.explainer.partial_dependence('bmi').average[0]"
        " - [model.predict(X.assign(bmi=b)).mean() for b in widget.explainer.grid('bmi').values]).max())"
    )
    assert gap < 1e-9


def test_brush_with_the_mouse_selects_in_python_and_changes_the_curves(
    quickstart: Notebook, widget: WidgetOnPage, screenshots: Path
) -> None:
    before = widget.pixels("curves")
    widget.drag("histogram", (0.6, 0.4), (0.9, 0.5))
    assert quickstart.wait_until("widget.selection.n > 0")
    text = quickstart.ask("widget.selection.text")
    assert "bmi" in text
    # Independent: the same condition in pandas, and scikit-learn's brute force on these rows.
    n = quickstart.ask(f"int(X.eval({text!r}).sum())")
    assert 0 < n < 442
    assert quickstart.ask("widget.selection.n") == n
    assert quickstart.ask("int(widget.selection.mask.sum())") == n
    quickstart.page.wait_for_function(
        "([node, n]) => node.dataset.n === String(n)", arg=[widget.find("selection-n").element_handle(), n]
    )
    assert widget.selection == text
    low = quickstart.ask(f"float(X.bmi[X.eval({text!r})].min())")
    high = quickstart.ask(f"float(X.bmi[X.eval({text!r})].max())")
    span = quickstart.ask("[float(X.bmi.min()), float(X.bmi.max())]")
    assert span[0] + 0.3 * (span[1] - span[0]) < low < high <= span[1], "the brush was on the right part of the axis"
    quickstart.page.wait_for_timeout(300)
    assert widget.pixels("curves") != before
    quickstart.wait_until("widget._split.get('exact') is True and widget._split.get('feature') == 'bmi'")
    wrong = quickstart.ask(
        "[__import__('sklearn.inspection').inspection.partial_dependence(model, X[rows], ['bmi'], kind='average', method='brute', "
        "custom_values={'bmi': curve.grid_values[0]})['average'][0].tolist() for rows in [widget.selection.mask, ~widget.selection.mask]]"
    )
    shown = [
        quickstart.ask(
            f"__import__('numpy').frombuffer(widget._split[{side!r}]['average']['view'], widget._split[{side!r}]['average']['dtype']).tolist()"
        )
        for side in ("selection", "rest")
    ]
    for ours, theirs in zip(shown, wrong, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-6)
    widget.root.screenshot(path=screenshots / "lab-brushed.png")
    assert quickstart.errors == []


def test_shift_adds_escape_clears(quickstart: Notebook, widget: WidgetOnPage) -> None:
    widget.drag("histogram", (0.6, 0.4), (0.8, 0.5))
    first = quickstart.wait_until("widget.selection.n")
    quickstart.page.keyboard.down("Shift")
    widget.drag("histogram", (0.1, 0.4), (0.3, 0.5))
    quickstart.page.keyboard.up("Shift")
    assert quickstart.wait_until(f"widget.selection.n > {first}")
    quickstart.page.keyboard.press("Escape")
    quickstart.wait_until("not widget.selection.text")


def test_rectangle_over_the_lines_selects_rows(quickstart: Notebook, widget: WidgetOnPage) -> None:
    widget.drag("curves", (0.45, 0.05), (0.65, 0.35))
    assert 0 < quickstart.wait_until("widget.selection.n") < 442
    # These are rows whose curve is high at a high BMI.
    higher = "(lambda p, m: bool(p[m].mean() > p[~m].mean()))(curve.individual[0][:, -1], widget.selection.mask)"
    assert quickstart.ask(higher)


def test_feature_chosen_on_the_page_reaches_python_and_back(quickstart: Notebook, widget: WidgetOnPage) -> None:
    widget.choose("blood_pressure")
    quickstart.wait_until("widget.feature == 'blood_pressure'")
    quickstart.ask("setattr(widget, 'feature', 'age')")
    widget.find("title").get_by_text("age", exact=True).wait_for()
    assert quickstart.errors == []


def test_selection_made_in_python_shows_on_the_page(quickstart: Notebook, widget: WidgetOnPage) -> None:
    n = quickstart.ask(
        "[widget.select('bmi > 30 & blood_pressure > 100'), int(((X.bmi > 30) & (X.blood_pressure > 100)).sum())][1]"
    )
    quickstart.page.wait_for_function(
        "([node, n]) => node.dataset.n === String(n)", arg=[widget.find("selection-n").element_handle(), n]
    )
    assert widget.selection == "bmi > 30 & blood_pressure > 100"
    widget.find("clear").click()
    quickstart.wait_until("not widget.selection.text")


def test_condition_typed_on_the_page(quickstart: Notebook, widget: WidgetOnPage) -> None:
    field = widget.find("selection-text")
    field.fill("bmx > 30")
    field.press("Enter")
    widget.find("selection-error").get_by_text("bmi").wait_for()  # did you mean 'bmi'?
    field.fill("bmi > 30")
    field.press("Enter")
    assert quickstart.wait_until("widget.selection.n") == quickstart.ask("int((X.bmi > 30).sum())")


def test_ctrl_s_in_the_widget_saves_the_notebook(quickstart: Notebook, widget: WidgetOnPage, jupyter_lab: Lab) -> None:
    file = jupyter_lab.folder / quickstart.name
    before = file.stat().st_mtime_ns
    widget.find("search").click()
    quickstart.page.keyboard.press("Control+s")
    until = time.monotonic() + 15
    while file.stat().st_mtime_ns == before and time.monotonic() < until:
        quickstart.page.wait_for_timeout(100)
    assert file.stat().st_mtime_ns > before


def test_light_and_dark(quickstart: Notebook, widget: WidgetOnPage, screenshots: Path) -> None:
    widget.drag("histogram", (0.6, 0.4), (0.9, 0.5))
    quickstart.wait_until("widget.selection.n")
    brightness = "node => { const c = getComputedStyle(node).backgroundColor.match(/\\d+(\\.\\d+)?/g).slice(0, 3).map(Number); return c.reduce((a, b) => a + b) / 765 }"
    try:
        for name, low, high in (("Light", 0.9, 1.0), ("Dark", 0.0, 0.25)):
            quickstart.set_theme(f"JupyterLab {name}")
            quickstart.page.wait_for_timeout(400)
            assert low <= widget.root.evaluate(brightness) <= high
            quickstart.page.screenshot(path=screenshots / f"lab-{name.lower()}.png")
    finally:
        quickstart.set_theme("JupyterLab Light")
    assert quickstart.errors == []


def test_two_widgets_on_one_page_do_not_influence_each_other(browser: Browser, jupyter_lab: Lab) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 1800})
    content = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(TWO_WIDGETS)])
    content.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = jupyter_lab.open(context.new_page(), content, name="two.ipynb")
    notebook.run_all()
    one, two = WidgetOnPage(notebook.page, 0), WidgetOnPage(notebook.page, 1)
    for shown in (one, two):
        shown.wait_until_exact()
    notebook.ask("[setattr(w, 'feature', 'ldl') for w in (one, two)]")
    for shown in (one, two):
        shown.find("title").get_by_text("ldl", exact=True).wait_for()
        shown.wait_until_exact()
    notebook.page.wait_for_timeout(500)
    before = two.pixels("curves"), two.pixels("histogram")
    one.drag("histogram", (0.5, 0.4), (0.8, 0.5))
    assert notebook.wait_until("one.selection.n")
    notebook.page.wait_for_timeout(500)
    assert one.n == notebook.ask("one.selection.n")
    assert (two.n, two.selection, notebook.ask("two.selection.text")) == (None, "", "")
    assert (two.pixels("curves"), two.pixels("histogram")) == before
    one.choose("bmi")
    notebook.wait_until("one.feature == 'bmi'")
    assert two.title == notebook.ask("two.feature") == "ldl"
    assert notebook.errors == []
    notebook.shutdown()
    context.close()


def test_picture_stays_when_the_kernel_is_gone(browser: Browser, jupyter_lab: Lab) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 1200})
    notebook = jupyter_lab.open(context.new_page(), NOTEBOOKS / "quickstart.ipynb", name="gone.ipynb")
    notebook.run_all()
    widget = WidgetOnPage(notebook.page)
    widget.wait_until_exact()
    notebook.shutdown()
    widget.drag(
        "histogram", (0.6, 0.4), (0.9, 0.5)
    )  # JupyterLab tells no widget; the page notices when it wants to ask
    widget.find("nokernel").wait_for(timeout=30_000)
    notebook.page.wait_for_function(
        "node => Number(node.dataset.n) > 0", arg=widget.find("selection-n").element_handle()
    )
    assert widget.pixels("curves")[0][0] > 3000
    widget.find("clear").click()
    notebook.page.wait_for_function("node => node.dataset.n === ''", arg=widget.find("selection-n").element_handle())
    context.close()


def ended(notebook: Notebook, how: str) -> None:
    """Without a kernel: by JupyterLab's menu, or by somebody else at the server."""
    notebook.kill() if how == "server" else notebook.shutdown()


@pytest.mark.parametrize("how", ["server", "menu"])
def test_no_control_is_on_without_its_picture_when_the_kernel_is_gone(
    browser: Browser, jupyter_lab: Lab, how: str
) -> None:
    """JupyterLab takes what is saved for a dead kernel, loses it, and tells nobody."""
    context = browser.new_context(viewport={"width": 1400, "height": 1200})
    notebook = jupyter_lab.open(context.new_page(), NOTEBOOKS / "quickstart.ipynb", name=f"dead-{how}.ipynb")
    notebook.run_all()
    widget = WidgetOnPage(notebook.page)
    widget.wait_until_exact()
    curves = widget.find("curves")
    widget.choose("age")  # seen, so that the page can show it without Python
    widget.choose("bmi")
    widget.find("by").select_option("sex")
    widget.root.locator("[data-testid=curves][data-overlays^='group-0,group-1']").wait_for(timeout=20_000)
    notebook.wait_until("widget._progress['state'] == 'idle'")
    ended(notebook, how)
    widget.find("effect-ale").click()
    widget.find("nokernel").wait_for(timeout=15_000)
    assert "Saved picture, not connected to Python" in widget.find("nokernel").inner_text()
    assert "Run the cell again" in widget.find("curve-message").inner_text()
    ale = widget.find("effect-ale")
    assert (ale.get_attribute("aria-pressed"), ale.is_disabled()) == ("false", True)
    assert widget.find("effect-pd").get_attribute("aria-pressed") == "true"
    # The groups' curves are those of the partial dependence, which is drawn.
    assert (widget.find("by").input_value(), widget.find("by").is_disabled()) == ("sex", True)
    assert (curves.get_attribute("data-overlays") or "").startswith("group-0,group-1")
    # Another feature's curve is on the page, its groups are not.
    widget.root.locator("[data-testid=feature][data-name=age]").click()
    widget.root.locator("[data-testid=curves][data-drawn^='age|']").wait_for(timeout=5000)
    assert (curves.get_attribute("data-overlays"), widget.find("by").input_value()) == ("", "")
    context.close()


def test_a_choice_that_no_kernel_took_is_taken_back(browser: Browser, jupyter_lab: Lab) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 1200})
    notebook = jupyter_lab.open(context.new_page(), NOTEBOOKS / "quickstart.ipynb", name="dead-choice.ipynb")
    notebook.run_all()
    widget = WidgetOnPage(notebook.page)
    widget.wait_until_exact()
    notebook.wait_until("widget._progress['state'] == 'idle'")
    ended(notebook, "server")
    widget.root.locator("[data-testid=feature][data-name=age]").click()
    widget.find("nokernel").wait_for(timeout=15_000)
    assert "age is not in this notebook" in widget.find("curve-message").inner_text()
    assert widget.title == "bmi"
    assert widget.find("curves").get_attribute("data-drawn").startswith("bmi|")
    context.close()


def test_saved_notebook_shows_its_widget_when_it_is_opened_again(browser: Browser, jupyter_lab: Lab) -> None:
    """With jupyter-config on JUPYTER_CONFIG_PATH, as in the demo: the picture comes back without a cell being run."""
    context = browser.new_context(viewport={"width": 1400, "height": 1200})
    notebook = jupyter_lab.open(context.new_page(), NOTEBOOKS / "quickstart.ipynb", name="saved.ipynb")
    notebook.run_all()
    WidgetOnPage(notebook.page).wait_until_exact()
    notebook.wait_until("widget._progress['state'] == 'idle'")
    notebook.page.wait_for_timeout(500)
    notebook.command("docmanager:save")
    notebook.shutdown()
    context.close()
    saved = nbformat.read(jupyter_lab.folder / "saved.ipynb", as_version=4)
    assert "application/vnd.jupyter.widget-state+json" in saved.metadata["widgets"]

    context = browser.new_context(viewport={"width": 1400, "height": 1200})
    again = jupyter_lab.open(context.new_page(), saved, name="again.ipynb")
    widget = WidgetOnPage(again.page)
    widget.find("nokernel").wait_for(timeout=30_000)
    assert "Saved picture, not connected to Python" in widget.find("nokernel").inner_text()
    assert widget.title == "bmi"
    assert widget.pixels("curves")[0][0] > 3000
    widget.drag("histogram", (0.6, 0.4), (0.9, 0.5))
    again.page.wait_for_function("node => Number(node.dataset.n) > 0", arg=widget.find("selection-n").element_handle())
    again.shutdown()
    context.close()
