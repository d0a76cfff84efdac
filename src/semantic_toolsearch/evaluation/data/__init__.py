"""Files, packages and hubs in; checked datasets out."""
