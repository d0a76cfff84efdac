"""A finished model folder and what is to be said of it come in; the manifest that vouches for its files goes out."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

__all__ = ["sha256", "write_manifest"]


def sha256(path: Path) -> str:
    """Hexadecimal digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_manifest(folder: Path, names: tuple[str, ...], **said: Any) -> int:
    """Write the manifest of a model that pools by the mean, normalises and needs no prefixes.

    Args:
        folder: Where the files lie.
        names: The files that the library loads.
        said: ``id``, ``dimension``, ``max_tokens``, ``recipe``, ``source``, and ``kind`` where it is not onnx.

    Returns:
        Bytes of all these files.
    """
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": sha256(folder / name)} for name in names
    }
    fixed = {"pooling": "mean", "normalized": True, "query_prefix": "", "document_prefix": ""}
    manifest = {"format": 1, **said, **fixed, "license": "Apache-2.0", "files": files}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(files, indent=2))
    return sum(entry["bytes"] for entry in files.values())
