"""Whether the trail keeps its word: every byte flipped, processes killed."""
