"""Export and import: memory as files, and files as memory (mission D9)."""
