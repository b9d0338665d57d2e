"""One file per command: its options, the workflow it calls, and how the answer is shown."""
