"""Where work items run: on threads of this process, on other processes, or on the machines of a cluster.

A round of a search is a list of independent items. On threads they are functions that share the codes in memory; for
workers of other processes an item is a few kilobytes that say what is to be done (which store, which columns, at which
addresses of randomness), and a worker opens the store itself. Results come back in the order of the items, so that the
answer does not depend on who did what, or how often it had to be done again.
"""
