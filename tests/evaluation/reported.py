"""Results that reports are tried on: some made up by hand, some measured on twelve tools."""

from __future__ import annotations

from arm_sets import twelve_tools

from semantic_toolsearch.evaluation.arms.parsing import parse_arm
from semantic_toolsearch.evaluation.data.sources import DatasetSource
from semantic_toolsearch.evaluation.dataset import Dataset, Query
from semantic_toolsearch.evaluation.results import (
    MEASURES,
    ArmResult,
    ConversationResult,
    Evaluation,
    QueryRow,
    SizeResult,
    TaskResult,
)
from semantic_toolsearch.evaluation.settings import RunSettings
from semantic_toolsearch.evaluation.suite import run_suite

EVIL = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


def figures(*values):
    return dict(zip(MEASURES, values, strict=True))


def returned(size, tokens, precision, recall, complete, empty=0.0, **more):
    return {
        "size": size,
        "tokens": tokens,
        "precision": precision,
        "recall": recall,
        "complete": complete,
        "empty": empty,
        **more,
    }


def words(**changes):
    values = {
        "arm": "words",
        "measures": figures(0.25, 0.5, 0.25, 0.4321, 0.375),
        "recall_at": (0.25, 0.375, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.625, 0.625),
        "returned": returned(4.0, 1234.4, 0.2, 0.5, 0.25, nothing_loaded=0.0, nothing_without_gold=0.1),
        "slices": {
            "kind": {
                "paraphrase": {"queries": 2, **figures(0, 0, 0, 0.1, 0)},
                "exact-name": {"queries": 2, **figures(1, 1, 1, 0.9, 1)},
            },
            "overlap": {"<15 %": {"queries": 4, **figures(0, 0, 0, 0, 0)}},
        },
        "values": dict.fromkeys(MEASURES, (1.0, 0.0, 0.0, 0.0, 0.0)),
        "ranked": ((0, 1), (1,), (2,), (0,), (3,)),
        "loaded": ((0, 1), (1,), (2,), (0,), (3,)),
        "times": {"p50_ms": 0.21, "p95_ms": 12.4, "build_s": 0.5},
    }
    return ArmResult(**{**values, **changes})


def meaning(**changes):
    values = {
        "arm": "meaning",
        "measures": figures(0.75, 0.875, 0.75, 0.8, 0.7891),
        "beats": {"hit@1": (), "nDCG@10": ("words", "anthropic-bm25"), "MRR": ("words",)},
        "recall_at": (0.75, 0.75, 0.8, 0.8, 0.875, 0.875, 0.9, 0.9, 1.0, 1.0),
        "returned": returned(1.5, 300.0, 0.7, 0.8, 0.75, 0.25, nothing_loaded=1.0, nothing_without_gold=0.9),
        "values": dict.fromkeys(MEASURES, (1.0, 1.0, 1.0, 0.0, 0.0)),
        "ranked": ((0, 2), (1, 0), (2, 1), (3, 2), (1, 2)),
        "loaded": ((0,), (1,), (2,), (3,), ()),
        "slices": {
            "kind": {
                "paraphrase": {"queries": 2, **figures(0, 0, 0, 0.7, 0)},
                "exact-name": {"queries": 2, **figures(1, 1, 1, 0.9, 1)},
            }
        },
        "times": {"p50_ms": 3.4, "p95_ms": 140.0, "build_s": 2.0},
    }
    return words(**{**values, **changes})


def emulated():
    return words(
        arm="anthropic-bm25",
        how="emulated",
        notes=("Its tokenizer is not documented.",),
        failures={"q1": "no answer within 30 s"},
        times={"p50_ms": 0.1, "p95_ms": 0.2, "build_s": 0.1},
    )


def unranked():
    return ArmResult(
        arm="openai-tool-search",
        how="replayed",
        ranks=False,
        returned=returned(1.2, 90.0, 0.6, 0.7, 0.6),
        loaded=((0,), (1,), (3,), (), ()),
        usage={"input_tokens": 4321},
    )


QUERIES = (
    *(QueryRow(id=f"q{place}", gold=(place,), slices={"kind": "paraphrase"}) for place in range(4)),
    QueryRow(id="q4", answerable=False, slices={"kind": "nothing-fits"}),
)


def made_up(**changes):
    task = TaskResult(
        name="office",
        description="Made up for tests.",
        split="test",
        tools=1_200,
        unusable=3,
        full_tokens=98_765,
        counted="characters / 4",
        sha256={"tools.jsonl": "0123abcd" * 8},
        queries=QUERIES,
        arms=(words(), meaning(), emulated(), unranked()),
    )
    failing = words(
        measures={}, values={}, returned={}, times={}, failed="RankerError: position 12 of 12 tools."
    )
    other = task.model_copy(
        update={"name": "home", "arms": (failing, meaning(beats={}), emulated(), unranked())}
    )
    sizes = tuple(
        SizeResult(
            task="office",
            tools=tools,
            queries=4,
            catalogs=catalogs,
            arms={"words": figures(0.5, 0.6, 0.5, share, 0.5), "meaning": figures(0.9, 0.95, 0.9, 0.9, 0.9)},
            tokens={"full": 80.0 * tools, "hosted, responses": 4.0 * tools, "hosted": 20.0, "bridge": 340.0},
            times={"words": {"p50_ms": 0.1, "p95_ms": 0.4}},
        )
        for tools, catalogs, share in ((1_200, 1, 0.4), (50, 4, 0.61))
    )
    conversations = tuple(
        ConversationResult(
            task="office",
            tools=1_200,
            mode=mode,
            api="anthropic",
            turns=turns,
            conversations=5,
            requests=2.0 * turns,
            first_tokens=cost,
            input_tokens=3 * cost * turns,
            read=cost,
            written=cost,
            fresh=cost,
            cost=cost * turns,
            rewrites=0.5,
            answered=0.9,
            prices={"read": 0.1, "write": 1.25},
            counted="characters / 4",
            notes=("Hosted searches are imitated.",) if mode == "hosted" else (),
        )
        for turns in (1, 5)
        for mode, cost in (("hosted", 500.0), ("full", 4_000.0))
    )
    values = {
        "config": {"arms": ["words", "meaning"], "seed": 7, "config": {"band": 0.5}},
        "versions": {"semantic_toolsearch": "9.9", "python": "3.11"},
        "tasks": (task, other),
        "sizes": sizes,
        "conversations": conversations,
        "times": {"seconds": 12.0},
    }
    return Evaluation(**{**values, **changes})


def measured(*, evil=False, arms=("full", "keyword", "bm25", "anthropic-bm25"), details=10):
    """A real run over the twelve tools, with its queries; with texts that attack a page where asked."""
    dataset = twelve_tools()
    if evil:
        first, *tools = dataset.tools
        name = f"twelve {EVIL}"
        tools = (first.model_copy(update={"description": f"{first.description} \u2028 <!-- {EVIL}"}), *tools)
        queries = [Query("bill", f"bill a customer for the order {EVIL}", kind=EVIL), *dataset.queries[1:]]
        dataset = Dataset(name, tools, dataset.ids, tuple(queries), dataset.gold)
    settings = RunSettings(probes=0, strangers=0)
    source = DatasetSource(dataset.name, lambda: dataset)
    return run_suite([source], [parse_arm(arm) for arm in arms], settings, details=details)
