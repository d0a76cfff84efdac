"""The author's question: tools and what users say in; which descriptions to change, with the evidence, out."""
