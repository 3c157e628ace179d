# SPDX-License-Identifier: Apache-2.0
"""The process itself: how soon it is ready, and what it holds when it does nothing."""
import pathlib
import time

from report import median, ms
from server import Server


def run(binary, folder, report, rounds):
    ready, rss = [], []
    for n in range(rounds):
        s = Server(binary, pathlib.Path(folder) / f"idle{n % 2}", 0)       # the second and later find a data folder that was used
        time.sleep(0.5)
        ready.append(s.ready_after)
        rss.append(s.rss_mib())
        s.stop()
    report.add("process", "time to ready", ms(median(ready)), "", "", "< 300 ms", median(ready) < 0.3)
    report.add("process", "idle memory", f"{median(rss):.0f} MiB", "", "", "< 80 MiB", median(rss) < 80)
