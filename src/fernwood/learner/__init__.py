"""Learners: trees that grow on the codes of a subspace, predict, and say which columns they used."""
