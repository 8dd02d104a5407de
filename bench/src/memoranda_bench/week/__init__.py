"""A scripted week of work: what sleep makes of notes whose kind is known, and sleep over a large vault."""
