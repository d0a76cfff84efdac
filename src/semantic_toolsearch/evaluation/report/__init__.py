"""Results in; tables, Markdown and a page to look through out."""
