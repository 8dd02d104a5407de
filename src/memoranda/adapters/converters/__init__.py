"""Documents of any format, as markdown."""
