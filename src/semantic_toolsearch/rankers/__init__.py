"""Rankers: a query in, the best tools out. One protocol, five implementations, any object of the user's."""

from semantic_toolsearch.rankers.protocol import Ranker, RankerFactory, Ranking, Visible

__all__ = ["Ranker", "RankerFactory", "Ranking", "Visible"]
