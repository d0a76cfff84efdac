"""The evaluation suite: datasets and arms in, figures with their uncertainty out."""
