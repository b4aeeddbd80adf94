"""Writes arrays.json: .npy files as NumPy saves them with the raw contents that they stand for, and 16-bit floats.

Run with NumPy (made with 2.4): python3 make-arrays.py > arrays.json
"""
import base64
import io
import json
import struct
import warnings

import numpy as np

warnings.simplefilter("ignore")
cases = []


def raw_of(array):
    """Row-major little-endian elements, or length-prefixed bytes."""
    if array.dtype.kind in "SU":
        out = b""
        for element in array.ravel(order="C"):
            text = element if isinstance(element, bytes) else element.encode("utf-8")
            out += struct.pack("<I", len(text)) + text
        return out
    if array.dtype.kind == "V":
        return np.ascontiguousarray(array).tobytes()
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()


def add(name, array, datatype=None, version=None, **options):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=version, **options)
    case = {"name": name, "npy": base64.b64encode(stream.getvalue()).decode()}
    if datatype is not None:
        case |= {"datatype": datatype, "shape": list(array.shape), "raw": raw_of(array).hex()}
    cases.append(case)


numbers = {
    "BOOL": "?", "UINT8": "u1", "INT8": "i1", "UINT16": "u2", "INT16": "i2", "UINT32": "u4", "INT32": "i4",
    "UINT64": "u8", "INT64": "i8", "FP16": "f2", "FP32": "f4", "FP64": "f8",
}
for datatype, code in numbers.items():
    values = np.arange(6).reshape(2, 3) % 2 if code == "?" else np.arange(6).reshape(2, 3) * 7 + 1
    for order in "<>":
        array = values.astype(np.dtype(code).newbyteorder(order))
        add(f"{datatype} {order}", array, datatype)
        add(f"{datatype} {order} fortran", np.asfortranarray(array), datatype)
add("INT64 beyond 2^53", np.array([2**63 - 1, -(2**63), 2**53 + 1]), "INT64")
add("FP32 specials", np.array([np.nan, np.inf, -np.inf, -0.0], dtype="<f4"), "FP32")
add("scalar", np.array(2.5, dtype="<f4"), "FP32")
add("three axes, fortran", np.asfortranarray(np.arange(24, dtype="<i2").reshape(2, 3, 4)), "INT16")
add("version 2.0", np.arange(4, dtype="<f4"), "FP32", version=(2, 0))
add("version 3.0", np.arange(4, dtype="<f4"), "FP32", version=(3, 0))
add("texts of bytes", np.array([b"a", b"", b"longer text", b"x\0y"], dtype="S"), "BYTES")
add("texts of Unicode", np.array([["ä", "", "\U0001f600 z"]], dtype="<U4"), "BYTES")
add("texts of Unicode, big-endian", np.array(["ä", "bc"], dtype=">U4"), "BYTES")
add("texts, fortran", np.asfortranarray(np.array([["a", "b"], ["c", "d"]], dtype="S1")), "BYTES")
# As ml_dtypes.bfloat16 is saved.
add("bfloat16", np.array([0x3F80, 0x4000], dtype="<u2").view("V2"), "BF16")
add("no element", np.zeros((0, 3), dtype="<f4"))
add("pickled", np.array([{"a": 1}], dtype=object), allow_pickle=True)
add("complex", np.array([1 + 2j]))
add("records", np.zeros(2, dtype=[("a", "<i4"), ("b", "<f4")]))
add("datetime", np.array(["2026-01-01"], dtype="datetime64[D]"))

random = np.random.default_rng(1)
sizes = np.concatenate([
    [0.0, -0.0, 1.0, 65504.0, 65519.999, 2**-14, 2**-24, 2**-25, 1.5 * 2**-25, 1 + 2**-11, 1 + 3 * 2**-11, 1e-300],
    np.ldexp(random.random(150) * 2 - 1, random.integers(-26, 16, 150)),
])
# Numbers and the bits of the nearest FP16.
halves = [[repr(float(value)), int(np.float16(value).view(np.uint16))] for value in sizes]
arrays = ",\n".join(json.dumps(case) for case in cases)
print(f'{{"arrays": [\n{arrays}\n],\n"halves": {json.dumps(halves)}}}')
