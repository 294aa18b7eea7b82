"""The compiled loops over leaves; importing this module imports numba.

Rows are taken in blocks of 64 x ``WORDS``, one bit each. For a block, ``fill_table`` holds for every distinct split condition
the mask of the rows that go left there. From it follows, node by node down a tree, the mask of rows that satisfy all conditions
on *one* feature along the path (``_passes``). A leaf is then the conjunction of a handful of such masks, one per feature on its
path, and everything here is counting: rows that satisfy all of them are in the leaf, rows that miss exactly one feature would be
there if that feature were moved, rows that miss two if both were. Moving a feature over a grid is the same masks over the grid's
points; a leaf holds on few runs of them, so that adding at the start of a run and taking away at its end, with a cumulative
sum at the very end, costs the same for any grid.

Exactness: floating-point sums in a fixed order, no fast-math, no atomics. The loops stand in one file because numba's cache on disk
notices changes in a function's own file only.
"""

# mypy: ignore-errors
# What is compiled is typed by numba; mypy takes an intrinsic for the function it is made of.

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

WORDS = 8
BLOCK = 64 * WORDS
"""Rows per block."""

_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_SIX = np.uint64(6)


def _compiled(function: Any) -> Any:
    """Compile on first use without holding the interpreter's lock, and remember the result on disk where that is possible."""
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        return njit(nogil=True)(function)


@intrinsic
def _lowest(typingctx: Any, word: Any) -> Any:
    """Position of the lowest set bit of a word that is not zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def _count(typingctx: Any, word: Any) -> Any:
    """Number of set bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


# ---- laying out the trees --------------------------------------------------------------------


@_compiled
def preorder(roots, left, right):
    """Return the nodes of each tree parents first, where trees start, and each node's parent and side.

    Returns
    -------
    node : (N,) int32
        Original number.
    start : (T + 1,) int64
    parent : (N,) int32
        Counted from the tree's start, 0 at the root.
    side : (N,) bool
        Whether it is its parent's right child.
    """
    n, trees = len(left), len(roots)
    node = np.empty(n, np.int32)
    parent = np.zeros(n, np.int32)
    side = np.zeros(n, np.bool_)
    start = np.zeros(trees + 1, np.int64)
    stack = np.empty(n + 1, np.int32)
    from_node = np.empty(n + 1, np.int32)
    from_side = np.empty(n + 1, np.bool_)
    at = 0
    for t in range(trees):
        start[t] = at
        stack[0], from_node[0], from_side[0] = roots[t], 0, False
        top = 1
        while top > 0:
            top -= 1
            u = stack[top]
            node[at], parent[at], side[at] = u, from_node[top], from_side[top]
            if left[u] >= 0:
                here = at - start[t]
                stack[top], from_node[top], from_side[top] = right[u], here, True
                stack[top + 1], from_node[top + 1], from_side[top + 1] = left[u], here, False
                top += 2
            at += 1
    start[trees] = at
    return node[:at], start, parent[:at], side[:at]


@_compiled
def ends(start, parent):
    """Return, per node, the first node after everything below it, counted from the tree's start: (N,) int32."""
    end = np.zeros(len(parent), np.int32)
    for t in range(len(start) - 1):
        for u in range(start[t + 1] - 1, start[t] - 1, -1):
            end[u] = max(end[u], u - start[t] + 1)
            above = start[t] + parent[u]
            end[above] = max(end[above], end[u])
    return end


@_compiled
def members(start, parent, slot, leaf_number, n_leaves, n_slots):
    """Return the features on each path.

    Parameters
    ----------
    slot : (N,) int32
        Feature of the condition that leads into the node; -1 at roots.

    Returns
    -------
    previous : (N,) int32
        The nearest node above with the same feature, counted from the tree's start; 0, the root, which everything
        satisfies, where there is none.
    member, member_start : (M,) int32, (L + 1,) int64
        Per leaf the last node of each feature on its path: the leaf is where all of them hold.
    """
    previous = np.zeros(len(parent), np.int32)
    member_start = np.zeros(n_leaves + 1, np.int64)
    seen = np.full(n_slots, -1, np.int64)
    for counting in (True, False):
        if not counting:
            member = np.empty(member_start[n_leaves], np.int32)
        m = 0
        seen[:] = -1
        for t in range(len(start) - 1):
            first = start[t]
            for u in range(start[t + 1] - first):
                if counting and u > 0:
                    v = parent[first + u]
                    while v > 0 and slot[first + v] != slot[first + u]:
                        v = parent[first + v]
                    previous[first + u] = v
                k = leaf_number[first + u]
                if k < 0:
                    continue
                v = u
                while v > 0:
                    s = slot[first + v]
                    if seen[s] != k:
                        seen[s] = k
                        if not counting:
                            member[m] = v
                        m += 1
                    v = parent[first + v]
                member_start[k + 1] = m
    return previous, member, member_start


# ---- masks -----------------------------------------------------------------------------------


@_compiled
def fill_table(codes, base, missing_base, n_levels, set_start, set_level_start, set_levels, table):
    """Fill the masks of the points that go left, one row per distinct condition.

    Parameters
    ----------
    codes : (C, m) int32
        Level of each point per column, -1 where missing.
    base, missing_base : (C,) int64
        First row of each column's conditions when missing goes right and when it goes left.
    n_levels : (C,) int64
        Row ``base + k`` is the condition "level below k", k = 0 .. n_levels; the column's category sets follow.
    set_start : (C + 1,) int64
        The column's category sets.
    set_level_start, set_levels : (S + 1,) int64, int32
        Levels in each set.
    table : (E, words) uint64
    """
    words = table.shape[1]
    gone = np.empty(words, np.uint64)
    for c in range(len(base)):
        first, top = base[c], n_levels[c]
        sets = set_start[c + 1] - set_start[c]
        table[first : first + top + 1 + sets] = _ZERO
        gone[:] = _ZERO
        for r in range(codes.shape[1]):
            k = codes[c, r]
            w, bit = r >> 6, _ONE << np.uint64(r & 63)
            if k >= 0:
                table[first + k + 1, w] |= bit
            else:
                gone[w] |= bit
        for k in range(1, top + 1):
            for w in range(words):
                table[first + k, w] |= table[first + k - 1, w]
        for s in range(sets):
            row = first + top + 1 + s
            for q in range(set_level_start[set_start[c] + s], set_level_start[set_start[c] + s + 1]):
                k = first + set_levels[q]
                for w in range(words):
                    table[row, w] |= table[k + 1, w] & ~table[k, w]
        other = missing_base[c]
        if other != first:
            for k in range(top + 1 + sets):
                for w in range(words):
                    table[other + k, w] = table[first + k, w] | gone[w]


@_compiled
def _passes(first, count, previous, entry, side, table, everything, passes):
    """Fill, per node of one tree, the mask of points that satisfy the path's conditions on the node's own feature."""
    for w in range(WORDS):
        passes[0, w] = everything[w]
    for u in range(1, count):
        above, e = previous[first + u], entry[first + u]
        if side[first + u]:
            for w in range(WORDS):
                passes[u, w] = passes[above, w] & ~table[e, w]
        else:
            for w in range(WORDS):
                passes[u, w] = passes[above, w] & table[e, w]


@_compiled
def _passes_grid(first, count, previous, entry, side, slot, wanted, table, passes):
    """The same over grid points, any number of words, for nodes whose feature is wanted."""
    words = table.shape[1]
    for w in range(words):
        passes[0, w] = _ONES
    for u in range(1, count):
        if wanted[slot[first + u]] < 0:
            continue
        above, e = previous[first + u], entry[first + u]
        if side[first + u]:
            for w in range(words):
                passes[u, w] = passes[above, w] & ~table[e, w]
        else:
            for w in range(words):
                passes[u, w] = passes[above, w] & table[e, w]


@_compiled
def _runs(masks, row, size, at):
    """Write where runs of set bits among the first ``size`` of a row begin and end, in turn; return how many such places.

    The end of a run that reaches ``size`` is left out: nothing lies beyond it.
    """
    found = 0
    carry = _ZERO
    for w in range((size + 63) >> 6):
        word = masks[row, w]
        flips = word ^ ((word << _ONE) | carry)
        carry = word >> np.uint64(63)
        while flips != _ZERO:
            k = w * 64 + _lowest(flips)
            flips &= flips - _ONE
            if k < size:
                at[found] = k
                found += 1
    return found


# ---- ICE -------------------------------------------------------------------------------------


@_compiled
def ice(
    start, parent, entry, side, slot, end, leaf_number, value, output,
    table, everything, wanted, sizes, grid_table, rest, grid_passes, holder, at, other_at, base, steps,
):  # fmt: skip
    """Add, for one block of rows, all trees' contributions to the steps of the rows' ICE surfaces over one or two features.

    Down each tree goes the mask of rows that satisfy all conditions on the *other* features; below a node that no row reaches,
    or on a side without grid points, there is nothing to do.

    Parameters
    ----------
    wanted : (S,) int32
        0 for the feature on the first axis, 1 for the one on the second, -1 for all others.
    sizes : (2,) int64
        Grid points; 1 for an axis without a feature.
    rest : (nodes, WORDS) uint64; grid_passes : (nodes, words) uint64; holder : (nodes, 2) int32; at, other_at : int64
        Room to work in.
    base : (n_raw, BLOCK) float64
        Sum of the leaves that stay the same wherever the features are moved.
    steps : (n_raw, BLOCK, K1, K2) float64
        Cumulated along both axes and added to ``base`` they are the surfaces.
    """
    width, words = value.shape[1], grid_table.shape[1]
    holder[0, 0], holder[0, 1] = 0, 0
    inside = np.zeros((2, words), np.uint64)
    for w in range(words):
        grid_passes[0, w] = _ONES
        for f in range(2):
            left = sizes[f] - 64 * w
            if left >= 64:
                inside[f, w] = _ONES
            elif left > 0:
                inside[f, w] = (_ONE << np.uint64(left)) - _ONE
    for t in range(len(start) - 1):
        first = start[t]
        out = output[t]
        for w in range(WORDS):
            rest[0, w] = everything[w]
        u, last = 0, start[t + 1] - first
        while u < last:
            if u > 0:
                above, e = parent[first + u], entry[first + u]
                flip = _ONES if side[first + u] else _ZERO
                f = wanted[slot[first + u]]
                holder[u, 0], holder[u, 1] = holder[above, 0], holder[above, 1]
                some = _ZERO
                if f < 0:
                    for w in range(WORDS):
                        word = rest[above, w] & (table[e, w] ^ flip)
                        rest[u, w] = word
                        some |= word
                else:
                    for w in range(WORDS):
                        rest[u, w] = rest[above, w]
                    before = holder[above, f]
                    holder[u, f] = u
                    for w in range(words):
                        word = grid_passes[before, w] & (grid_table[e, w] ^ flip) & inside[f, w]
                        grid_passes[u, w] = word
                        some |= word
                if some == _ZERO:
                    u = end[first + u]
                    continue
            k = leaf_number[first + u]
            if k >= 0:
                a, b = holder[u, 0], holder[u, 1]
                if a == 0 and b == 0:
                    for w in range(WORDS):
                        word = rest[u, w]
                        while word != _ZERO:
                            r = w * 64 + _lowest(word)
                            word &= word - _ONE
                            for o in range(width):
                                base[out + o, r] += value[k, o]
                else:
                    places = _runs(grid_passes, a, sizes[0], at)
                    other_places = _runs(grid_passes, b, sizes[1], other_at)
                    if width == 1 and places <= 2 and other_places == 1 and other_at[0] == 0:
                        # The common case by far, one run over one feature, without the loops below.
                        x = value[k, 0]
                        i, j = at[0], at[places - 1]
                        for w in range(WORDS):
                            word = rest[u, w]
                            while word != _ZERO:
                                r = w * 64 + _lowest(word)
                                word &= word - _ONE
                                steps[out, r, i, 0] += x
                                if places == 2:
                                    steps[out, r, j, 0] -= x
                        u += 1
                        continue
                    for w in range(WORDS):
                        word = rest[u, w]
                        while word != _ZERO:
                            r = w * 64 + _lowest(word)
                            word &= word - _ONE
                            for o in range(width):
                                up = value[k, o]
                                for i in range(places):
                                    gap = up
                                    for j in range(other_places):
                                        steps[out + o, r, at[i], other_at[j]] += gap
                                        gap = -gap
                                    up = -up
            u += 1


@_compiled
def unroll(base, steps, surfaces):
    """Write the surfaces, (n_raw, m, K1, K2), from one block's ``base`` and ``steps``."""
    for o in range(surfaces.shape[0]):
        for r in range(surfaces.shape[1]):
            for i in range(surfaces.shape[2]):
                along = 0.0
                for j in range(surfaces.shape[3]):
                    along += steps[o, r, i, j]
                    surfaces[o, r, i, j] = along + (surfaces[o, r, i - 1, j] if i > 0 else base[o, r])


@_compiled
def cross(
    start, parent, entry, side, slot, end, leaf_number, value, output,
    table, everything, moved, moved_table, moved_everything, rest, taken, raw,
):  # fmt: skip
    """Add all trees' predictions for each row of one block with the moved features of each row of another.

    Parameters
    ----------
    table, moved_table : (E, WORDS) uint64
        Masks of the rows that keep their other features, and of the rows that the moved features are taken from.
    moved : (S,) bool
    rest, taken : (nodes, WORDS) uint64
        Room to work in.
    raw : (n_raw, BLOCK, BLOCK) float64
        ``raw[o, r, i]``: other features of row r, moved features of row i.
    """
    width = value.shape[1]
    for t in range(len(start) - 1):
        first = start[t]
        out = output[t]
        for w in range(WORDS):
            rest[0, w] = everything[w]
            taken[0, w] = moved_everything[w]
        u, last = 0, start[t + 1] - first
        while u < last:
            if u > 0:
                above, e = parent[first + u], entry[first + u]
                flip = _ONES if side[first + u] else _ZERO
                some = _ZERO
                if moved[slot[first + u]]:
                    for w in range(WORDS):
                        rest[u, w] = rest[above, w]
                        taken[u, w] = taken[above, w] & (moved_table[e, w] ^ flip)
                        some |= taken[u, w]
                else:
                    for w in range(WORDS):
                        taken[u, w] = taken[above, w]
                        rest[u, w] = rest[above, w] & (table[e, w] ^ flip)
                        some |= rest[u, w]
                if some == _ZERO:
                    u = end[first + u]
                    continue
            k = leaf_number[first + u]
            if k >= 0:
                for w in range(WORDS):
                    word = rest[u, w]
                    while word != _ZERO:
                        r = w * 64 + _lowest(word)
                        word &= word - _ONE
                        for x in range(WORDS):
                            inner = taken[u, x]
                            while inner != _ZERO:
                                i = x * 64 + _lowest(inner)
                                inner &= inner - _ONE
                                for o in range(width):
                                    raw[out + o, r, i] += value[k, o]
            u += 1


# ---- averages over rows, from how many rows each leaf would hold -------------------------------


@_compiled
def _weigh(masks, row, weights):
    """Return the weight of the rows in a row of masks: their number when there are no weights."""
    total = 0.0
    if len(weights) == 0:
        for w in range(WORDS):
            total += _count(masks[row, w])
        return total
    for w in range(WORDS):
        word = masks[row, w]
        while word != _ZERO:
            total += weights[w * 64 + _lowest(word)]
            word &= word - _ONE
    return total


@_compiled
def weigh_leaves(
    trees, start, previous, entry, side, leaf_tree, member_start, member,
    table, everything, weights, with_pairs, passes, behind, mass_start, mass,
):  # fmt: skip
    """Add one block's rows to the mass of each leaf.

    The masses of a leaf with m features on its path are, one after the other: of the rows in it; for each feature, of the rows
    that miss it by that feature only; for each feature, of the rows that satisfy its conditions, whatever the others; and for
    each two features, of the rows that miss it by exactly these two.

    Parameters
    ----------
    weights : (BLOCK,) float64, or empty when all rows count the same
    mass_start : (L' + 1,) int64
        Where each leaf's masses start, for the leaves of ``trees``.
    """
    before = np.empty(WORDS, np.uint64)
    only = np.empty(WORDS, np.uint64)
    both = np.empty((1, WORDS), np.uint64)
    first_leaf = leaf_tree[trees[0]]
    for t in range(trees[0], trees[1]):
        first = start[t]
        _passes(first, start[t + 1] - first, previous, entry, side, table, everything, passes)
        for k in range(leaf_tree[t], leaf_tree[t + 1]):
            low = member_start[k]
            m = member_start[k + 1] - low
            at = mass_start[k - first_leaf]
            for w in range(WORDS):
                behind[m, w] = everything[w]
                before[w] = everything[w]
            for i in range(m - 1, -1, -1):
                u = member[low + i]
                for w in range(WORDS):
                    behind[i, w] = behind[i + 1, w] & passes[u, w]
            mass[at] += _weigh(behind, 0, weights)
            pair = at + 1 + 2 * m
            for i in range(m):
                u = member[low + i]
                mass[at + 1 + m + i] += _weigh(passes, u, weights)
                some = _ZERO
                for w in range(WORDS):
                    only[w] = before[w] & ~passes[u, w]
                    before[w] &= passes[u, w]
                    both[0, w] = only[w] & behind[i + 1, w]
                    some |= only[w]
                mass[at + 1 + i] += _weigh(both, 0, weights)
                if not with_pairs:
                    continue
                if some == _ZERO:
                    pair += m - 1 - i
                    continue
                for j in range(i + 1, m):
                    v = member[low + j]
                    for w in range(WORDS):
                        both[0, w] = only[w] & behind[j + 1, w] & ~passes[v, w]
                        only[w] &= passes[v, w]
                    mass[pair] += _weigh(both, 0, weights)
                    pair += 1


@_compiled
def spread(
    trees, start, previous, entry, side, slot, leaf_tree, member_start, member, value, output,
    mass_start, mass, wanted, sizes, grid_table, pair_at, pair_first, with_surface, grid_passes, at, other_at,
    single, single_constant, part, pair_constant, surface,
):  # fmt: skip
    """Add the leaves' averages over rows to steps over the grid points of one and of two features.

    Parameters
    ----------
    mass_start, mass
        As ``weigh_leaves`` leaves them, the masses of all rows summing to one.
    wanted : (S,) int32
        Number of each feature, -1 when it is not asked for.
    pair_at : (F, F) int32
        Number of each pair (symmetric), -1 when it is not asked for.
    pair_first : (P,) int32
        The feature on the first axis of each pair.
    single : (n_raw, F, K)
        Steps of the average of leaves with the feature on their path, when the feature is moved.
    single_constant : (n_raw, F)
        The average of the same leaves when nothing is moved.
    part : (n_raw, P, 2, K)
        As ``single``, of the leaves with both features of the pair on their path.
    pair_constant : (n_raw, P)
    surface : (n_raw, P, K, K)
        Steps of the average of the same leaves when both features are moved; untouched unless ``with_surface``.
    """
    width = value.shape[1]
    first_leaf = leaf_tree[trees[0]]
    for t in range(trees[0], trees[1]):
        first = start[t]
        out = output[t]
        _passes_grid(first, start[t + 1] - first, previous, entry, side, slot, wanted, grid_table, grid_passes)
        for k in range(leaf_tree[t], leaf_tree[t + 1]):
            low = member_start[k]
            m = member_start[k + 1] - low
            own = mass_start[k - first_leaf]
            pair = own + 1 + 2 * m
            for i in range(m):
                u = member[low + i]
                f = wanted[slot[first + u]]
                if f < 0:
                    pair += m - 1 - i
                    continue
                alone = mass[own] + mass[own + 1 + i]
                places = _runs(grid_passes, u, sizes[f], at)
                for o in range(width):
                    gap = value[k, o] * alone
                    for q in range(places):
                        single[out + o, f, at[q]] += gap
                        gap = -gap
                    single_constant[out + o, f] += value[k, o] * mass[own]
                if len(pair_first) == 0:
                    continue
                for j in range(i + 1, m):
                    v = member[low + j]
                    g = wanted[slot[first + v]]
                    number = pair_at[f, g] if g >= 0 else -1
                    if number >= 0:
                        other_places = _runs(grid_passes, v, sizes[g], other_at)
                        other_alone = mass[own] + mass[own + 1 + j]
                        together = mass[own] + mass[own + 1 + i] + mass[own + 1 + j] + mass[pair]
                        mine = 0 if pair_first[number] == f else 1
                        for o in range(width):
                            x = value[k, o]
                            pair_constant[out + o, number] += x * mass[own]
                            gap = x * alone
                            for q in range(places):
                                part[out + o, number, mine, at[q]] += gap
                                gap = -gap
                            gap = x * other_alone
                            for q in range(other_places):
                                part[out + o, number, 1 - mine, other_at[q]] += gap
                                gap = -gap
                            if with_surface:
                                up = x * together
                                for q in range(places):
                                    gap = up
                                    for h in range(other_places):
                                        if mine == 0:
                                            surface[out + o, number, at[q], other_at[h]] += gap
                                        else:
                                            surface[out + o, number, other_at[h], at[q]] += gap
                                        gap = -gap
                                    up = -up
                    pair += 1


@_compiled
def at_rows(
    trees, start, previous, entry, side, slot, leaf_tree, member_start, member, value, output,
    mass_start, mass, wanted, pair_at, table, everything, passes, behind, prediction, rest, joint,
):  # fmt: skip
    """Add, for one block of rows, the leaves' averages over the background rows at the rows' own values.

    Parameters
    ----------
    prediction : (n_raw, BLOCK)
        Sum of the leaves the rows are in.
    rest : (n_raw, F, BLOCK)
        Added to ``prediction``: the average over the background's values of one feature, all others as in the row.
    joint : (n_raw, P, BLOCK)
        Average of the leaves with both features of a pair on their path, both as in the row.
    """
    width = value.shape[1]
    before = np.empty(WORDS, np.uint64)
    first_leaf = leaf_tree[trees[0]]
    for t in range(trees[0], trees[1]):
        first = start[t]
        out = output[t]
        _passes(first, start[t + 1] - first, previous, entry, side, table, everything, passes)
        for k in range(leaf_tree[t], leaf_tree[t + 1]):
            low = member_start[k]
            m = member_start[k + 1] - low
            own = mass_start[k - first_leaf]
            for w in range(WORDS):
                behind[m, w] = everything[w]
                before[w] = everything[w]
            for i in range(m - 1, -1, -1):
                u = member[low + i]
                for w in range(WORDS):
                    behind[i, w] = behind[i + 1, w] & passes[u, w]
            for w in range(WORDS):
                word = behind[0, w]
                while word != _ZERO:
                    r = w * 64 + _lowest(word)
                    word &= word - _ONE
                    for o in range(width):
                        prediction[out + o, r] += value[k, o]
                        for i in range(m):
                            f = wanted[slot[first + member[low + i]]]
                            if f >= 0:
                                rest[out + o, f, r] += value[k, o] * (mass[own + 1 + m + i] - 1.0)
            pair = own + 1 + 2 * m
            for i in range(m):
                u = member[low + i]
                f = wanted[slot[first + u]]
                if f < 0:
                    pair += m - 1 - i
                    for w in range(WORDS):
                        before[w] &= passes[u, w]
                    continue
                margin = mass[own + 1 + m + i]
                for w in range(WORDS):
                    word = before[w] & behind[i + 1, w] & ~passes[u, w]
                    before[w] &= passes[u, w]
                    while word != _ZERO:
                        r = w * 64 + _lowest(word)
                        word &= word - _ONE
                        for o in range(width):
                            rest[out + o, f, r] += value[k, o] * margin
                if joint.shape[1] == 0:
                    continue
                for j in range(i + 1, m):
                    v = member[low + j]
                    g = wanted[slot[first + v]]
                    number = pair_at[f, g] if g >= 0 else -1
                    if number >= 0:
                        together = mass[own] + mass[own + 1 + i] + mass[own + 1 + j] + mass[pair]
                        if together != 0.0:
                            for w in range(WORDS):
                                word = passes[u, w] & passes[v, w]
                                while word != _ZERO:
                                    r = w * 64 + _lowest(word)
                                    word &= word - _ONE
                                    for o in range(width):
                                        joint[out + o, number, r] += value[k, o] * together
                    pair += 1
