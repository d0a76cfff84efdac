"""Folders of weights of one architecture come in; the folder of their weighted sum goes out.

Weights between those before and those after training keep part of what training on a narrow set takes away (Wortsman
et al., "Robust fine-tuning of zero-shot models", CVPR 2022).
"""

from __future__ import annotations

from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer


def blend(shares: dict[Path, float], out: Path) -> None:
    """Write the sum of the models, each multiplied by its share; the shares add up to one."""
    total: dict[str, torch.Tensor] = {}
    for folder, share in shares.items():
        model = SentenceTransformer(str(folder), device="cpu")
        for name, weight in model.state_dict().items():
            if weight.is_floating_point():
                total[name] = total.get(name, torch.zeros_like(weight)) + share * weight
            else:
                total[name] = weight
    model.load_state_dict(total)
    model.save(str(out))
