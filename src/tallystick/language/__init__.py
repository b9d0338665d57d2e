"""How a text is read, by word and grammar rules: sentences, mood, polarity, anchors. Pure and linear-time."""
