"""Metamorphic tests: a table is changed in a way whose effect on the answer is known, whatever the answer is."""
