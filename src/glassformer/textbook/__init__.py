"""One self-contained page per language, and Markdown with pictures: the lessons, their verdicts, and a run."""
