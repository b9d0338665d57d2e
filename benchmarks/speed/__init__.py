"""How long the product takes, each beside a floor that does the least possible."""
