"""A BERT encoder comes in; the same network, pooled and normalised, as a graph that quantises well goes out."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

__all__ = ["Encoder"]


class Encoder(nn.Module):
    """BERT with pooling and normalisation, written so that its graph is small.

    The three attention projections are one product, the attention's ``1 / sqrt(d)`` is folded into the query
    weights, and the constant token type is folded into the position table.

    Args:
        bert: The original model, in evaluation mode.
    """

    def __init__(self, bert: nn.Module) -> None:
        super().__init__()
        tables = bert.embeddings
        self.heads = bert.config.num_attention_heads
        shrink = (bert.config.hidden_size // self.heads) ** -0.5
        self.words = tables.word_embeddings.weight
        self.positions = nn.Parameter(
            tables.position_embeddings.weight + tables.token_type_embeddings.weight[0]
        )
        self.norm = tables.LayerNorm
        self.layers = bert.encoder.layer
        attentions = [layer.attention.self for layer in self.layers]
        self.weights = nn.ParameterList(
            torch.cat([a.query.weight * shrink, a.key.weight, a.value.weight]).T.contiguous()
            for a in attentions
        )
        self.biases = nn.ParameterList(
            torch.cat([a.query.bias * shrink, a.key.bias, a.value.bias]) for a in attentions
        )

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Token ids and their mask, int64 ``[n, s]``, to unit vectors, float32 ``[n, d]``."""
        texts, length = input_ids.shape
        mask = attention_mask.to(torch.float32)
        hidden_by_mask = ((1.0 - mask) * -10000.0)[:, None, None, :]
        states = self.norm(functional.embedding(input_ids, self.words) + self.positions[:length])
        for layer, weight, bias in zip(self.layers, self.weights, self.biases, strict=True):
            heads = (torch.matmul(states, weight) + bias).chunk(3, -1)
            query, key, value = (x.reshape(texts, length, self.heads, -1).transpose(1, 2) for x in heads)
            attention = torch.softmax(query @ key.transpose(-1, -2) + hidden_by_mask, -1) @ value
            attended = attention.transpose(1, 2).reshape(texts, length, -1)
            output = layer.attention.output
            states = output.LayerNorm(output.dense(attended) + states)
            wide = functional.gelu(layer.intermediate.dense(states))
            states = layer.output.LayerNorm(layer.output.dense(wide) + states)
        mask = mask.unsqueeze(-1)
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return mean / mean.norm(dim=1, keepdim=True).clamp(min=1e-12)
