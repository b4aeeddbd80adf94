"""Writes scans.json: shapes and digests of made-up scans after the pre-processing of 3d-unet-kits19.

Run with NumPy and SciPy (made with 2.4 and 1.17): python3 make-scans.py > scans.json
The voxels come from a formula, which the test has as well.
"""
import hashlib
import json

import numpy as np
from scipy.ndimage import zoom

SPACING = np.array([1.6, 1.2, 1.2])


def noise(shape, seed):
    x = (np.arange(np.prod(shape), dtype=np.uint64) + np.uint64(seed)) * np.uint64(2654435761)
    x &= np.uint64(0xFFFFFFFF)
    x ^= x >> np.uint64(15)
    x = (x * np.uint64(0x85EBCA6B)) & np.uint64(0xFFFFFFFF)
    return (x ^ (x >> np.uint64(13))).reshape(shape)


def prepared(shape, spacing, seed):
    bits = noise(shape, seed)
    image = ((bits >> np.uint64(8)).astype(np.float64) / 8192 - 1024).astype(np.float32)
    label = (bits % np.uint64(3)).astype(np.uint8)
    factor = np.array([float(np.float32(s)) for s in spacing]) / SPACING
    image = zoom(image, factor, order=1, mode="constant", cval=image.min(), grid_mode=False)
    label = zoom(label, factor, order=0, mode="constant", cval=label.min(), grid_mode=False)
    image = (np.clip(image, -79.0, 304.0) - 101.0) / 76.9
    for axis in range(3):
        length = image.shape[axis]
        missing = max(0, 128 - length)
        around = [(0, 0)] * 3
        around[axis] = (missing // 2, missing - missing // 2)
        image, label = np.pad(image, around, mode="edge"), np.pad(label, around, mode="edge")
        length += missing
        surplus = length % 64 if length % 64 < 32 else 0
        kept = slice(surplus // 2, length - (surplus - surplus // 2))
        image, label = np.moveaxis(image, axis, 0)[kept], np.moveaxis(label, axis, 0)[kept]
        image, label = np.moveaxis(image, 0, axis), np.moveaxis(label, 0, axis)
        missing = -image.shape[axis] % 64
        around[axis] = (missing // 2, missing - missing // 2)
        image = np.pad(image, around, mode="constant", constant_values=[-2.2])
        label = np.pad(label, around, mode="constant", constant_values=[0])
    return image.astype(np.float32), label


cases = []
for shape, spacing, seed in [
    ((40, 100, 100), (5.0, 1.5, 1.5), 1),
    ((90, 64, 70), (3.0, 0.9, 0.7), 2),
    ((200, 130, 129), (1.0, 1.2, 1.2), 3),
    ((25, 150, 90), (2.5, 0.8125, 1.9), 4),
    ((161, 97, 255), (0.8, 1.6, 0.6), 5),
    ((1, 128, 128), (1.6, 1.2, 1.2), 6),
    ((61, 77, 83), (3.2, 2.4, 1.8), 7),
    ((137, 211, 101), (1.25, 0.78, 1.41), 8),
]:
    image, label = prepared(shape, spacing, seed)
    sha256 = [hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest() for a in (image, label)]
    cases.append({
        "shape": shape, "spacing": spacing, "seed": seed, "prepared": image.shape,
        "image_sha256": sha256[0], "label_sha256": sha256[1],
    })
print(json.dumps(cases, indent=1))
