"""Hooks for hosts: what an agent's own loop calls before and after each turn."""
