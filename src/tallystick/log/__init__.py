"""The log as mathematics: canonical bytes, the Merkle tree over them, and signed notes about its size and root. Pure."""
