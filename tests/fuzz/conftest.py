"""Tells at the end of a long run how many inputs each property was tried with."""

from __future__ import annotations

from budget import MANY, TRIED


def pytest_terminal_summary(terminalreporter):
    if MANY:
        terminalreporter.section("inputs tried by hypothesis")
        for test, count in sorted(TRIED.items()):
            terminalreporter.line(f"{count:>9,}  {test}")
        terminalreporter.line(f"{sum(TRIED.values()):>9,}  in all")
