"""The surfaces of the conversation tests, for the tests of turns."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_PATH = Path(__file__).parent.parent / "conversation" / "conftest.py"
_SPEC = importlib.util.spec_from_file_location("conversation_surfaces", _PATH)
_SURFACES = importlib.util.module_from_spec(_SPEC)
sys.modules.setdefault(_SPEC.name, _SURFACES)
_SPEC.loader.exec_module(_SURFACES)

many, files, lib, mails = _SURFACES.many, _SURFACES.files, _SURFACES.lib, _SURFACES.mails
