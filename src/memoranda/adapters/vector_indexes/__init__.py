"""Vector indexes beside the default one: other people's engines behind :class:`memoranda.core.ports.VectorIndex`."""
