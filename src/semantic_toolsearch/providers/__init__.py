"""One module per wire format: a request in, its ``tools`` list out; a response in, its calls out."""
