"""The command line: one module a group of commands, found through the table in ``main``."""
