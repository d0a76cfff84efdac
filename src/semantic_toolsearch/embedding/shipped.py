"""A model's name comes in; the folder where this installation or checkout keeps it goes out."""

from __future__ import annotations

from pathlib import Path

from semantic_toolsearch.errors import EmbedderError

SHIPPED_MODELS = ("minilm-l6",)
"""Names of the models that come with the library; the first is the default."""

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped_model(name: str = SHIPPED_MODELS[0]) -> Path:
    """Find the folder of a model that comes with the library.

    Args:
        name: One of `SHIPPED_MODELS`.

    Returns:
        The folder inside the installed package, or in the source checkout's ``models/``.

    Raises:
        EmbedderError: No such model, or this installation lacks it.
    """
    if name not in SHIPPED_MODELS:
        raise EmbedderError(f"no model named {name!r} is shipped; there is: {', '.join(SHIPPED_MODELS)}")
    places = (_PACKAGE / "models" / name, _PACKAGE.parents[1] / "models" / name)
    for place in places:
        if (place / "manifest.json").is_file():
            return place
    looked = " nor ".join(str(place) for place in places)
    raise EmbedderError(
        f"the shipped model {name!r} is not part of this installation: neither {looked} holds a "
        f"manifest.json. Install the published wheel again "
        f"(pip install --force-reinstall semantic-toolsearch)."
    )
