"""What a user names as data in; the datasets that it means, each read when it is asked for, out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.cleaning import replace_surrogates
from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.data.archives import unpacked
from semantic_toolsearch.evaluation.data.bfcl import read_bfcl
from semantic_toolsearch.evaluation.data.folder import dataset_name, is_dataset, read_dataset
from semantic_toolsearch.evaluation.data.phrasings import dataset_from_phrasings, read_phrasings
from semantic_toolsearch.evaluation.data.toolret import parse_hub_spec, read_hub, read_toolret
from semantic_toolsearch.evaluation.dataset import Dataset
from semantic_toolsearch.names import nearest
from semantic_toolsearch.tool_files import catalog_of_json

__all__ = ["FORMS", "DatasetSource", "find_datasets", "own_datasets"]

FORMS: Final = """\
own                           the sets of this project
a set's name                  one of them
FOLDER                        a dataset, or a folder of datasets
CATALOG.json+PHRASINGS.txt    a catalog of yours and what its users say
bfcl                          from the package bfcl-eval
hub:ORG/NAME[/SUBSET]         ToolRet format, from a hub
toolret:FOLDER                the same format, from files"""
"""What can be named, a line each."""

_HERE: Final = Path(__file__).resolve()
_OWN: Final = (_HERE.parents[1] / "datasets", _HERE.parents[4] / "eval" / "datasets")
_ARCHIVE: Final = "eval.tar.gz"
_IN_FOLDER: Final = "tools.jsonl, queries.jsonl and qrels.tsv"


@dataclass(frozen=True, slots=True)
class DatasetSource:
    """A dataset that is read when it is asked for, so that not all of a run are held at once.

    Attributes:
        name: Its name, unique among the sources of a call.
        read: Reads it.
        origin: Where it is.
        note: What a user should know about how it was found, or "".
    """

    name: str
    read: Callable[[], Dataset]
    origin: str = ""
    note: str = ""

    def load(self) -> Dataset:
        """Read the dataset anew.

        Raises:
            DatasetError: It is missing or not what it should be.
            ConfigError: A package that it comes from is not installed (a ``MissingExtraError`` is another).
        """
        dataset = self.read()
        if not dataset.tools:
            why = next(iter(dataset.unusable.values()), "there are none")
            raise DatasetError(f"{self.name}: no definition of a tool can be used: {why}.")
        return dataset if dataset.name == self.name else replace(dataset, name=self.name)


def find_datasets(specs: Sequence[str] = (), *, strict: bool = False) -> list[DatasetSource]:
    """Find the datasets that texts name, in the forms that ``toolsearch eval run --data`` takes.

    Two datasets of one name are told apart by the folder around each; one that is named twice counts once.

    Args:
        specs: The texts; none mean ``own``.
        strict: Count near copies of gold tools as wrong, see ``read_dataset``.

    Returns:
        The sources, by name.

    Raises:
        DatasetError: A text names nothing; the message says what was looked for. What is inside of a dataset is
            looked at by ``DatasetSource.load`` only.
    """
    found: dict[str, DatasetSource] = {}
    for spec in specs or ("own",):
        for source in _named(spec.strip(), strict):
            found.setdefault(source.origin, source)
    counts = Counter(source.name for source in found.values())
    told = [
        replace(source, name="/".join(filter(None, (Path(source.origin).parent.name, source.name))))
        if counts[source.name] > 1
        else source
        for source in found.values()
    ]
    named: dict[str, DatasetSource] = {}
    for source in told:
        if (other := named.setdefault(source.name, source)) is not source:
            raise DatasetError(
                f"{other.origin} and {source.origin} are both called {source.name!r}; give one another 'name' in "
                "its meta.json, or evaluate them one after the other."
            )
    return sorted(told, key=lambda source: source.name)


def own_datasets() -> Path:
    """Return the folder of this project's own datasets: inside of the installed package, or of a checkout.

    Raises:
        DatasetError: It is in neither.
    """
    for place in _OWN:
        if place.is_dir():
            return place
    looked = " nor ".join(map(str, _OWN))
    raise DatasetError(f"The project's own datasets are neither in {looked}; install the package again.")


def _own() -> dict[str, Path]:
    """The own datasets by name; none where a distribution has left them out."""
    return {folder.name: folder for place in _OWN if place.is_dir() for folder in _inside(place)}


def _named(spec: str, strict: bool) -> list[DatasetSource]:
    """The sources that a text means, by names that can be shown and written."""
    try:
        return [
            replace(each, name=replace_surrogates(each.name)[0])  # a folder's name may be no UTF-8
            for each in _sources(spec, strict)
        ]
    except (
        OSError,
        RuntimeError,
        ValueError,
    ) as error:  # no rights, too long a name, ~ of nobody, a null character
        reason = getattr(error, "strerror", None) or error
        raise DatasetError(f"{spec[:200]!r} cannot be looked into: {reason}.") from error


def _sources(spec: str, strict: bool) -> Iterator[DatasetSource]:
    if spec == "own":
        yield from _at(own_datasets(), strict)
        return
    own = _own()
    if spec in own:
        yield _folder(own[spec], strict)
    elif spec == "bfcl":
        yield DatasetSource("bfcl", partial(read_bfcl, strict=strict), "bfcl")
    elif spec.startswith("hub:"):
        hub = parse_hub_spec(spec)
        yield DatasetSource(hub.name, partial(read_hub, hub), spec)
    elif spec.startswith("toolret:"):
        folder = _existing(Path(spec.removeprefix("toolret:")), spec, own)
        yield DatasetSource(folder.name, partial(read_toolret, folder), str(folder))
    elif "+" in spec and not Path(spec).exists():
        yield _phrasings(spec)
    else:
        yield from _at(_existing(Path(spec).expanduser(), spec, own), strict)


def _existing(path: Path, spec: str, own: dict[str, Path]) -> Path:
    nameless = spec in ("", "toolret:")  # of which Path makes the current folder
    if not nameless and path.is_dir():
        return path.resolve()
    similar = nearest(spec, ("own", "bfcl", *own))
    hint = f" Nearest: {', '.join(similar)}." if similar else ""
    what = (
        "is a file, and no folder"
        if path.exists() and not nameless
        else "is no dataset that is known, and no folder"
    )
    raise DatasetError(f"{spec!r} {what}.{hint} Data can be:\n{FORMS}")


def _at(folder: Path, strict: bool) -> Iterator[DatasetSource]:
    """The dataset that a folder is, or those inside of it, or inside of its archive."""
    if is_dataset(folder):
        yield _folder(folder, strict)
        return
    folders = _inside(folder)
    note = ""
    archive = folder / _ARCHIVE
    if not folders and archive.is_file():
        root = unpacked(archive)
        folders = [each for place in (root, *_folders(root)) for each in _inside(place)]
        note = f"{archive} was unpacked; the datasets are read from {root}."
    if not folders:
        inside = f"{archive} holds no datasets" if note else f"it holds no {_ARCHIVE} either"
        raise DatasetError(
            f"is no dataset ({_IN_FOLDER}), no folder inside of it is one, and {inside}.", folder
        )
    for place, each in enumerate(folders):
        yield replace(_folder(each, strict), note=note if place == 0 else "")


def _inside(folder: Path) -> list[Path]:
    return [each for each in _folders(folder) if (each / "queries.jsonl").is_file()]


def _folders(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))


def _folder(folder: Path, strict: bool) -> DatasetSource:
    return DatasetSource(dataset_name(folder), partial(read_dataset, folder, strict=strict), str(folder))


def _phrasings(spec: str) -> DatasetSource:
    catalog, _, phrasings = spec.rpartition("+")
    paths = [Path(each.strip()).expanduser() for each in (*catalog.split("+"), phrasings)]
    for path in paths:
        if not path.is_file():
            raise DatasetError(f"{spec!r}: {str(path)!r} is no file. Expected is CATALOG.json+PHRASINGS.txt.")
    name = paths[-1].stem
    return DatasetSource(
        name, partial(_read_phrasings, paths[:-1], paths[-1], name), str(paths[-1].resolve())
    )


def _read_phrasings(catalogs: Sequence[Path], phrasings: Path, name: str) -> Dataset:
    hashes: dict[str, str] = {}
    tools: list[ToolDefinition] = []
    for path in catalogs:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DatasetError(f"cannot be read: {error.strerror or error}.", path) from error
        hashes[path.name] = hashlib.sha256(data).hexdigest()
        catalog = catalog_of_json(data, str(path))
        tools += catalog
    said = read_phrasings(phrasings, hashes)
    catalog = catalog if len(catalogs) == 1 else Catalog(tools)  # one keeps what its report says
    return replace(dataset_from_phrasings(catalog, said, name), sha256=hashes)
