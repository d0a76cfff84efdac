"""What a user writes for an arm in; the arm out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from semantic_toolsearch.embedding import DEFAULT_MODEL
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.evaluation.arms.emulated import EmulatedArm, Variant
from semantic_toolsearch.evaluation.arms.flat_bm25 import FlatBm25Ranker
from semantic_toolsearch.evaluation.arms.full import FullArm
from semantic_toolsearch.evaluation.arms.import_paths import code_of, imported
from semantic_toolsearch.evaluation.arms.local import CacheSpec, LocalArm
from semantic_toolsearch.evaluation.arms.models import model_code, named_embedder
from semantic_toolsearch.names import nearest
from semantic_toolsearch.snapshot import check_ranker

if TYPE_CHECKING:
    from semantic_toolsearch.config import SearchConfig
    from semantic_toolsearch.embedding import Embedder
    from semantic_toolsearch.evaluation.answers import Arm

__all__ = ["ARMS", "parse_arm"]

ARMS: Final = {
    "full": "no search: the model gets every tool",
    "keyword": "3 points for a word in the name, else 1 in the description",
    "bm25": "words, weighted by rarity",
    "flat-bm25": "a textbook BM25 over one joined text, to compare with published figures",
    "regex": "a pattern written from the query's words",
    "semantic": "the embedding model alone",
    "hybrid": "words and meaning together; the library's default",
    "rrf": "bm25 and semantic fused by rank: the usual way to join them, to compare with",
    "anthropic-bm25": "Anthropic's hosted BM25 search, emulated by its documented rules, or live",
    "anthropic-regex": "Anthropic's hosted regular-expression search, emulated or live",
    "openai-tool-search": "OpenAI's hosted search; live or replayed only, and without ranks",
}
"""Arms by name, with what they are."""

_EMBEDDING: Final = ("semantic", "hybrid", "rrf")
_EMULATED: Final[dict[str, Variant]] = {"anthropic-bm25": "bm25", "anthropic-regex": "regex"}
_OPENAI: Final = "openai-tool-search"


def parse_arm(
    spec: str,
    *,
    cache: CacheSpec = None,
    embedder: str | Embedder = DEFAULT_MODEL,
    config: SearchConfig | None = None,
    rules: bool = True,
) -> Arm:
    """Make an arm that runs here.

    Args:
        spec: ``NAME`` or ``NAME@MODEL``. NAME is one of ``ARMS``, or ``package.module:Name`` for a ranker of your
            own: an object with ``rank``, or what makes one from a ``Catalog``. MODEL, for arms that embed, is one of
            ``models.MODEL_FORMS``.
        cache: Where embeddings are kept; as for ``ToolSearch``.
        embedder: The model of arms that name none; one of ``models.MODEL_FORMS``, or an embedder.
        config: The numbers of the rules.
        rules: Whether local arms are measured with the rules on top of their ranker; see ``LocalArm``.

    Returns:
        The arm, whose name is ``spec``. Arms of the same model share its embedder.

    Raises:
        ConfigError: There is no such arm or model, it cannot be imported, or it runs only live.
        MissingExtraError: The package that runs the model is not installed.
    """
    name, at, model = spec.partition("@")
    if at and name in ARMS and name not in _EMBEDDING:
        embedding = ", ".join(_EMBEDDING)
        raise ConfigError(f"{spec!r}: {name} uses no embedding model; those that do are {embedding}.")
    if name == "full":
        return FullArm(spec)
    if name in _EMULATED:
        return EmulatedArm(spec, _EMULATED[name])
    if name == _OPENAI:
        raise ConfigError(
            f"{_OPENAI} shows no ranking and its search is not documented, so it cannot be emulated: run it with "
            f"--live and a key, or with --replay from stored responses."
        )
    if name not in ARMS:
        if at and ":" in name:
            raise ConfigError(f"{spec!r}: a ranker of your own brings its own model; leave out @{model}.")
        return LocalArm(spec, _own(name), cache=cache, config=config, rules=rules, code=code_of(name))
    ranker: Any = FlatBm25Ranker if name == FlatBm25Ranker.name else name
    if name not in _EMBEDDING:
        return LocalArm(spec, ranker, cache=cache, config=config, rules=rules)
    chosen = model if at else embedder
    if not isinstance(chosen, str):
        return LocalArm(spec, ranker, chosen, cache, config, rules)
    return LocalArm(spec, ranker, named_embedder(chosen), cache, config, rules, model_code(chosen))


def _own(path: str) -> Any:
    """A ranker of the user's own, or what makes one.

    Raises:
        ConfigError: There is none, or it is no ranker.
    """
    if ":" not in path:
        raise _unknown(path)
    ranker = imported(path)
    try:
        check_ranker(ranker)
    except ConfigError as fault:
        raise ConfigError(f"{path}: {fault}") from fault
    return ranker


def _unknown(name: str) -> ConfigError:
    similar = nearest(name, ARMS)
    hint = f" Did you mean {' or '.join(similar)}?" if similar else ""
    arms = ", ".join(ARMS)
    return ConfigError(
        f"There is no arm {name!r}.{hint} Write one of {arms}, or package.module:Name for a ranker of your own."
    )
