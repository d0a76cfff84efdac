"""Every case of the public reports has a test under its id that names its kind, and two variants of our own or more."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

KINDS = {
    "identifiers": (1, 2, 3, 12, 14),
    "siblings": (4, 9, 10),
    "topic": (5, 6, 13),
    "word forms": (7,),
    "languages": (8,),
    "arithmetic": (11,),
    "selection": (15,),
    "determinism": (16,),
    "no answer": (17,),
    "arguments": (18, 19, 20),
    "schema": (21, 22, 23, 24, 30),
    "names": (25, 26, 27),
    "size": (28,),
    "unicode": (29,),
    "stubs": (31,),
    "compaction": (32, 33),
    "stale state": (34, 36),
    "dynamic catalogue": (35,),
    "parallel calls": (37,),
    "isolation": (38,),
    "eviction": (39,),
    "prompt cache": (40,),
    "dispatch": (41, 42, 43, 44),
    "hosted": (45, 46, 47),
    "permissions": (48, 49),
    "security": (50,),
    "threshold": (51, 52),
    "tokens": (53,),
    "engine": (54, 55),
    "scale": (56,),
    "meaning": (57, 58),
}
KIND_OF = {number: kind for kind, numbers in KINDS.items() for number in numbers}
"""The kind of failure that each of the reports is an example of."""


def case_tests():
    """(number of the case, test function) of all tests in this folder that bear one."""
    for path in sorted(Path(__file__).parent.glob("test_*_cases.py")):
        for name, test in vars(import_module(path.stem)).items():
            if numbered := re.match(r"test_bc(\d\d)_", name):
                yield int(numbered[1]), test


def variants(test):
    """Ids of the inputs that stand beside a reported one: those of our own."""
    for mark in getattr(test, "pytestmark", ()):
        named = mark.kwargs.get("ids")
        ids = list(map(str, named)) if isinstance(named, list) else []
        if mark.name == "parametrize" and any(each.startswith("reported") for each in ids):
            yield from (each for each in ids if not each.startswith("reported"))


def test_all_58_cases_are_listed():
    assert sorted(KIND_OF) == list(range(1, 59))


@pytest.mark.parametrize("number", range(1, 59))
def test_a_case_has_a_test_and_two_variants_of_our_own(number):
    tests = [test for case, test in case_tests() if case == number]
    assert tests
    own = {variant for test in tests for variant in variants(test)}
    assert len(own) >= 2, f"BC-{number:02}: {own}"


def test_each_test_of_a_case_names_its_kind():
    wrong = [
        f"{test.__name__}: {test.__doc__}"
        for number, test in case_tests()
        if not (test.__doc__ or "").startswith(f"Kind: {KIND_OF[number]}. ")
    ]
    assert wrong == []
