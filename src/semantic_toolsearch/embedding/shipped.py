"""A model's name comes in; the folder where this installation or checkout keeps it goes out."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from semantic_toolsearch.errors import EmbedderError

MODEL_NAMES: Final = {"small": "toolsearch-small", "nano": "toolsearch-nano"}
"""The models that come with the library: short name and folder. The first is the default."""

SHIPPED_MODELS: Final = tuple(MODEL_NAMES.values())
"""Folders of the models that come with the library; the first is the default."""

DEFAULT_MODEL: Final = SHIPPED_MODELS[0]
"""The model of a search that names none."""

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped_name(name: str) -> str | None:
    """The folder of a shipped model, given that or its short name; None where no model is called so."""
    return name if name in SHIPPED_MODELS else MODEL_NAMES.get(name)


def shipped_choices() -> str:
    """All names of shipped models, for messages."""
    return ", ".join(f"{short} ({folder})" for short, folder in MODEL_NAMES.items())


def shipped_model(name: str = DEFAULT_MODEL) -> Path:
    """Find the folder of a model that comes with the library.

    Args:
        name: A short name or a folder of `MODEL_NAMES`.

    Returns:
        The folder inside the installed package, or in the source checkout's ``models/``.

    Raises:
        EmbedderError: No such model, or this installation lacks it.
    """
    folder = shipped_name(name)
    if folder is None:
        raise EmbedderError(f"no model named {name!r} is shipped; there is: {shipped_choices()}")
    places = (_PACKAGE / "models" / folder, _PACKAGE.parents[1] / "models" / folder)
    for place in places:
        if (place / "manifest.json").is_file():
            return place
    looked = " nor ".join(str(place) for place in places)
    raise EmbedderError(
        f"the shipped model {folder!r} is not part of this installation: neither {looked} holds a "
        f"manifest.json. Install the published wheel again "
        f"(pip install --force-reinstall semantic-toolsearch)."
    )
