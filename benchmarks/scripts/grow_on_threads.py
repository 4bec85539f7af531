"""Processor time of 200 `extra` trees of 1000 rows and 250 columns on one and on two threads. Prints JSON."""

import json
import time

import numpy as np

from fernwood import seeds
from fernwood.learner.many import group_size, in_order
from fernwood.learner.settings import TreeSettings
from fernwood.learner.target import class_target
from fernwood.learner.trees import grow

rng = np.random.default_rng(0)
codes = rng.integers(0, 41, (250, 1000)).astype(np.uint8)
target = class_target(rng.integers(0, 2, 1000))
states = [seeds.state(0, i) for i in range(200)]


def one(state: np.ndarray) -> object:
    return grow(codes, target, TreeSettings(), state=state)


one(states[0])
found = {1: [], 2: []}
walls = {1: [], 2: []}
for _ in range(15):
    for n_threads in (1, 2):
        cpu, wall = time.process_time(), time.perf_counter()
        list(in_order(one, states, n_threads, group_size(len(states), codes.size, n_threads)))
        found[n_threads].append(time.process_time() - cpu)
        walls[n_threads].append(time.perf_counter() - wall)
print(
    json.dumps(
        {
            "one_thread_cpu_seconds": float(np.median(found[1])),
            "two_threads_cpu_seconds": float(np.median(found[2])),
            "one_thread_seconds": float(np.median(walls[1])),
            "two_threads_seconds": float(np.median(walls[2])),
            "cpu_ratio": float(np.median(np.array(found[2]) / np.array(found[1]))),
        }
    )
)
