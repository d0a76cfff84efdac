"""When a tool counts as a magnet: shares, their interval, and the needs behind them."""

from __future__ import annotations

import numpy as np
import pytest

from semantic_toolsearch.evaluation.mining.magnets import Raised, pulls, wilson_low


def raised(taken, *, of, needs, size=20):
    """`of` phrasings of as many tools as there are `needs`; the last tool comes up for the first `taken`."""
    return [
        Raised(
            right={number % needs},
            need=number % needs,
            tools=[number % needs] + [size - 1] * (number < taken),
        )
        for number in range(of)
    ]


def test_wilsons_interval_is_that_of_the_textbook():
    # 10 of 20 at 95 %: 0.299 to 0.701 (Wilson, 1927, as tabulated by Newcombe, 1998)
    assert wilson_low(10, 20, 1.959964) == pytest.approx(0.2993, abs=1e-4)
    assert wilson_low(0, 20, 1.96) == 0
    assert wilson_low(20, 20, 0.0) == 1


def test_a_tool_that_comes_up_for_a_third_of_all_phrasings_is_one():
    (pull,) = pulls(raised(20, of=60, needs=10), 20)
    assert (pull.place, len(pull.numbers), pull.of, pull.needs) == (19, 20, 60, 10)
    assert pull.typical == pytest.approx(1 / 60)
    assert pull.low >= 2 * pull.typical


def test_a_few_phrasings_are_no_evidence():
    assert pulls(raised(3, of=60, needs=10), 20) == []
    assert pulls(raised(2, of=4, needs=4), 20) == []


def test_taking_the_phrasings_of_two_tools_only_is_a_confusion():
    assert pulls(raised(30, of=60, needs=2), 20) == []
    assert len(pulls(raised(30, of=60, needs=3), 20)) == 1


def test_a_tool_is_no_magnet_for_what_it_answers():
    own = [Raised(right={3}, need=number, tools=[3]) for number in range(50)]
    assert pulls(own, 20) == []


def test_where_every_tool_comes_up_everywhere_none_stands_out():
    everything = [Raised(right={number % 10}, need=number % 10, tools=range(20)) for number in range(60)]
    assert pulls(everything, 20) == []


def test_the_same_share_stands_out_less_where_others_have_it_too():
    noise = [
        Raised(each.right, each.need, [*each.tools, *range(number % 4, 19, 4)])
        for number, each in enumerate(raised(20, of=60, needs=10))
    ]
    assert len(pulls(raised(20, of=60, needs=10), 20)) == 1
    assert [pull.place for pull in pulls(noise, 20)] == []


def test_more_tools_ask_for_more_evidence():
    phrasings = raised(7, of=60, needs=7)
    found = [bool(pulls(phrasings, 20, tests=tests)) for tests in (1, 10, 1_000_000)]
    assert found == sorted(found, reverse=True)
    assert found[0]
    assert not found[-1]


def test_one_tool_named_twice_by_one_phrasing_counts_once():
    doubled = [Raised(each.right, each.need, [*each.tools, 19, 19]) for each in raised(0, of=12, needs=12)]
    (pull,) = pulls(doubled, 20)
    assert len(pull.numbers) == 12


def test_the_strongest_comes_first_and_empty_input_gives_none():
    both = [Raised(each.right, each.need, [*each.tools, 18]) for each in raised(25, of=60, needs=10)]
    assert [pull.place for pull in pulls(both, 20)] == [18, 19]
    assert pulls([], 20) == []
    assert pulls(raised(20, of=60, needs=10, size=2), 2) == []


@pytest.mark.parametrize("seed", range(5))
def test_even_noise_makes_no_magnet(seed):
    draw = np.random.default_rng(seed)
    phrasings = [
        Raised({number % 200}, number % 200, draw.choice(200, 3, replace=False).tolist())
        for number in range(600)
    ]
    assert pulls(phrasings, 200) == []
