"""Writes blend.json: digests of the weights of a window, and of the labels out of made-up scores of sliding windows.

Run with NumPy and SciPy (made with 2.4 and 1.17): python3 make-blend.py > blend.json
"""
import hashlib
import json

import numpy as np
from scipy.signal.windows import gaussian

SIDE, STEP = 128, 64


def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def scores(window, label):
    x = (np.arange(SIDE**3, dtype=np.uint64) + np.uint64(window * 3 + label)) * np.uint64(2654435761)
    x &= np.uint64(0xFFFFFFFF)
    x ^= x >> np.uint64(15)
    x = (x * np.uint64(0x85EBCA6B)) & np.uint64(0xFFFFFFFF)
    return ((x >> np.uint64(16)).astype(np.float64) / 65536).astype(np.float32).reshape(SIDE, SIDE, SIDE)


line = gaussian(SIDE, SIDE / 8)
weights = np.cbrt(np.multiply.outer(np.multiply.outer(line, line), line))
weights = (weights / weights.max()).astype(np.float32)

cases = []
for shape in [(128, 128, 128), (192, 192, 128)]:
    sums = np.zeros((3, *shape), np.float32)
    norm = np.zeros(shape, np.float32)
    number = 0
    for d in range(0, shape[0] - STEP, STEP):
        for h in range(0, shape[1] - STEP, STEP):
            for w in range(0, shape[2] - STEP, STEP):
                place = (slice(d, d + SIDE), slice(h, h + SIDE), slice(w, w + SIDE))
                for label in range(3):
                    sums[label][place] += scores(number, label) * weights
                norm[place] += weights
                number += 1
    labels = np.argmax(sums / norm, axis=0).astype(np.uint8)
    cases.append({"shape": shape, "windows": number, "labels_sha256": sha256(labels)})
print(json.dumps({"weights_sha256": sha256(weights), "cases": cases}, indent=1))
