"""A module for every experiment; where one would be too long, parts of it are in a module beside it, which it imports.

`importances` has its forests in `grown`; `ferns` its searches in `fern_searches` and Figure 3 in `fern_noise`;
`elimination` counts in `elimination_said` what the paper says in words.
"""
