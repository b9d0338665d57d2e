"""Whether the trail keeps its word: every byte flipped, processes killed, a public suite of attacks."""
