"""Other memory systems beside this one: to compare with, and to fall back on while moving. None is a dependency."""
