"""The plan's small catalogs, and rankers that answer the same whatever is asked: right, wrong and hostile ones."""

from __future__ import annotations

import numpy as np

from library_tools import t
from semantic_toolsearch import Ranking

FILES = [
    t("read_file", "Return the text of a file"),
    t("write_file", "Create a file or replace what it holds"),
    t("edit_file", "Change part of a file"),
    t("list_directory", "Show what a folder holds"),
    t("grep_files", "Find lines in files that match a pattern"),
    t("bash", "Run a shell command"),
]
MAILS = [t(f"mail_{number:02}", "x") for number in range(12)]
RECORDS = [t(f"record_{number:02}", "Keep a record") for number in range(30)]


class Scores:
    """A custom ranker: fixed scores by position, whatever is asked, of visible and invisible tools alike."""

    def __init__(self, *scores, strong=None, note=None):
        self.ranking = Ranking(
            np.arange(len(scores)),
            np.array(scores, dtype=np.float32),
            None if strong is None else np.array(strong),
            notes=() if note is None else (note,),
        )

    def rank(self, query, *, limit, visible=None):
        return self.ranking


class Hostile:
    """Returns everything it can: all tools, several times, invisible ones too, in a random order."""

    name = "hostile"

    def __init__(self, catalog):
        self.size, self.random = len(catalog), np.random.default_rng(0)

    def rank(self, query, *, limit, visible=None):
        positions = self.random.permutation(np.repeat(np.arange(self.size), 2))
        scores = np.ones(len(positions), dtype=np.float32)
        return Ranking(positions, scores, strong=scores > 0, notes=("all yours",))

    def explain(self, query, position):
        return {"secret": 1.0}
