"""Compares what oomscope says of a recording with what is true of it."""
