"""Ways to search in; arms that answer the queries of any dataset out."""
