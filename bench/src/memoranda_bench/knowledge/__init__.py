"""Documents taken in and asked: outcomes, passages, throughput, and hostile files."""
