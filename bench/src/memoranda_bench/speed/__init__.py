"""How fast, how big: ours and other engines over made-up memories of growing size."""
