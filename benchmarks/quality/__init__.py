"""How often the product is right, on labelled and generated material."""
