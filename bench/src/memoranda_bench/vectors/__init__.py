"""How near, how fast, how big: the vector store and others over real embeddings."""
