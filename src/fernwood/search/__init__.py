"""The loops that drive the flow, one file each: draw, fit, score, decide, and round again."""
