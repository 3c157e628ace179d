# SPDX-License-Identifier: Apache-2.0
"""The table that a run prints: what was compared, both figures, their ratio, what it should be."""
import statistics
import sys


class Report:
    def __init__(self):
        self.rows, self.missed = [], 0

    def note(self, topic, text):
        """A comparison that could not be made, and why."""
        self.rows.append((topic, text, "", "", "", "", ""))
        print(f"  {topic}: {text}", file=sys.stderr, flush=True)

    def add(self, topic, what, ours, peer, ratio, target, ok):
        mark = "" if ok is None else "ok" if ok else "MISSED"
        self.missed += ok is False
        self.rows.append((topic, what, ours, peer, ratio, target, mark))
        print(f"  {topic} {what}: {ours} | {peer} | {ratio} {target} {mark}", file=sys.stderr, flush=True)

    def print(self):
        head = ("topic", "what", "firn", "compared with", "ratio", "target", "")
        table = [head] + self.rows
        width = [max(len(r[i]) for r in table) for i in range(len(head))]
        for n, r in enumerate(table):
            print("| " + " | ".join(c.ljust(width[i]) for i, c in enumerate(r)) + " |")
            if n == 0:
                print("|" + "|".join("-" * (w + 2) for w in width) + "|")


def ms(seconds):
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def median(values):
    return statistics.median(values)
