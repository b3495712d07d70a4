#!/usr/bin/env python3
"""diff_model.py LJPERF BASELINE FILE - compares the trees of `ljperf diff -g` with
those made from the events of both recordings, as `ljperf script` tells them;
used by tests/cli/diff_trees.sh.

Checked are, for each metric and both orders of frames: rows and every stack on
both sides; that each branch is the sum of what ends there and of its branches,
and a row that of its tree; and that the other way round all is the opposite.
The recordings must be of programs in which a function is called alike on both
sides, as it is when their lines are the same.
"""
import json
import re
import subprocess
import sys

import metrics_model
from metrics_model import Wrong

METRICS = ["allocated", "live", "leaked", "freed", "count"]


def stable(text):
    """Without what is an accident of the run: numbers of traces and addresses."""
    text = re.sub(r"^TRACE \[\d+\]( 0x[0-9a-f]+)?", "TRACE", text)
    return re.sub(r"^CFUNC 0x[0-9a-f]+", "CFUNC [unknown]", text)


def read_model(ljperf, path):
    items = metrics_model.read_events(ljperf, path)
    metrics_model.prepare_frames(items)
    return metrics_model.Model(metrics_model.cut(items, ["all", None, None]))


def stacks_of(model, metric):
    """{row: {stack: amount}}, the innermost frame first."""
    rows = {}
    for owner, v in metrics_model.metric_blocks(model, metric, True, 1):
        stack = tuple(stable(f) for f in metrics_model.full_stack(owner))
        metrics_model.add(rows.setdefault(stable(owner[0]), {}), stack, v)
    return rows


def diff(ljperf, metric, order, *paths):
    out = subprocess.run([ljperf, "diff", "--json", "-s", "symbol", "-g", order, "--metric", metric,
                          *paths], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out.decode("utf-8", "surrogateescape"))


def node_paths(tree):
    paths = []
    for node in tree:
        above = () if node["parent"] is None else paths[node["parent"]]
        paths.append(above + (node["frame"],))
    return paths


def check_sums(row):
    """Branches add up, on each side and so in the change."""
    tree = row["tree"]
    for side in (0, 1):
        below = [0] * len(tree)
        top = 0
        for node in tree:
            if node["parent"] is None:
                top += node["sides"][side]["value"]
            else:
                below[node["parent"]] += node["sides"][side]["value"]
        for node, sum_below in zip(tree, below):
            s = node["sides"][side]
            if s["value"] != s["self"] + sum_below:
                raise Wrong("branch %r: %r and %d below" % (node["frame"], s, sum_below))
        if top != row["sides"][side]["value"]:
            raise Wrong("row %r has %r, its tree %d" % (row["key"], row["sides"][side], top))
    for node in tree + [row]:
        a, b = node["sides"]
        if b["delta"] != b["value"] - a["value"]:
            raise Wrong("no difference: %r" % node)


def check_row(row, order, wants):
    paths = node_paths(row["tree"])
    if len(set(paths)) != len(paths):
        raise Wrong("a branch twice in %r" % row["key"])
    for side, want in enumerate(wants):
        want = {k if order == "callee" else k[::-1]: v for k, v in want.items() if v}
        got = {p: n["sides"][side]["self"] for p, n in zip(paths, row["tree"])
               if n["sides"][side]["self"]}
        if got != want:
            raise Wrong("side %d of %r: %r instead of %r" % (side, row["key"], got, want))
    check_sums(row)


def opposite(result):
    out = {}
    for row in result["rows"]:
        key = row["key"]["symbol"]
        out[key] = row["sides"][1]["delta"]
        for path, node in zip(node_paths(row["tree"]), row["tree"]):
            out[key, path] = (node["sides"][1]["delta"], node["sides"][0]["present"],
                              node["sides"][1]["present"])
    return out


def turned(changes):
    return {k: -v if isinstance(v, int) else (-v[0], v[2], v[1]) for k, v in changes.items()}


def check(ljperf, paths):
    models = [read_model(ljperf, p) for p in paths]
    n = 0
    for metric in METRICS:
        if metric == "leaked" and any(m.full_gc is None for m in models):
            continue
        wants = [stacks_of(m, metric) for m in models]
        for order in ("callee", "caller"):
            result = diff(ljperf, metric, order, *paths)
            rows = {row["key"]["symbol"]: row for row in result["rows"]}
            if set(rows) != set(wants[0]) | set(wants[1]):
                raise Wrong("rows: %r" % (set(rows) ^ (set(wants[0]) | set(wants[1]))))
            for symbol, row in rows.items():
                check_row(row, order, [w.get(symbol, {}) for w in wants])
                n += any(node["sides"][1]["delta"] for node in row["tree"])
            if opposite(diff(ljperf, metric, order, *paths[::-1])) != turned(opposite(result)):
                raise Wrong("the other way round is not the opposite: %s" % metric)
    if not n:
        raise Wrong("nothing differs, so that nothing was checked")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    try:
        check(sys.argv[1], sys.argv[2:])
    except Wrong as why:
        sys.exit(str(why).encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


if __name__ == "__main__":
    main()
