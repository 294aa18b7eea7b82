"""What a widget shows, in a form that can be compared: every plot's pixels, every part's text and what it says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widget_page import WidgetOnPage

# By test id and number among equals: the element's tag, text and data-* attributes, and of its canvases size and a hash of the pixels.
TAKE = """async root => {
    const parts = {}, seen = {};
    for (const node of root.querySelectorAll('[data-testid]')) {
        const name = node.dataset.testid;
        const key = `${name} ${seen[name] = (seen[name] ?? 0) + 1}`;
        const part = parts[key] = {tag: node.tagName, text: node.innerText, ...node.dataset};
        for (const canvas of node.querySelectorAll(':scope > canvas')) {
            const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', data));
            (part.pixels ??= []).push(`${canvas.width} x ${canvas.height} ` + [...digest.slice(0, 6)].join('.'));
        }
    }
    return parts;
}"""


def snapshot(widget: WidgetOnPage) -> dict[str, dict[str, Any]]:
    """Return what a widget shows once it is at rest."""
    widget.page.mouse.move(0, 0)
    before: dict[str, dict[str, Any]] = {}
    for _ in range(50):
        widget.page.wait_for_timeout(200)
        after = widget.root.evaluate(TAKE)
        if after == before:
            return after
        before = after
    raise AssertionError("the widget did not come to rest")


def differences(
    before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]], *, new: str = "nokernel"
) -> list[str]:
    """Say in what a picture without Python differs from the one before; controls may be gone, and `new` is the part that says so."""
    found = []
    for key in sorted(before.keys() | after.keys()):
        one, other = before.get(key), after.get(key)
        if one is None:
            if not key.startswith(new):
                found.append(f"{key} is new: {other}")
        elif other is None:
            if one["tag"] not in {"BUTTON", "INPUT", "SELECT"}:
                found.append(f"{key} is gone: {one}")
        else:
            mixed = {"text"} if key.startswith("panel-") else set()  # a panel's own text has its controls in it
            found += [
                f"{key}: {name} was {one.get(name)!r}, is {other.get(name)!r}"
                for name in (one.keys() | other.keys()) - mixed
                if one.get(name) != other.get(name)
            ]
    return found
