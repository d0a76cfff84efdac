"""Tools and queries in; what conversations cost, and what growing catalogs do, out."""
