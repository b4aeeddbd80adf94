"""What the servers of this folder know of a ModelInferRequest, and what they saw."""

import json
import signal
import sys
import threading
import os

OPTIONS = json.loads(sys.argv[1])
SERVICE = "/inference.GRPCInferenceService/"
LOCK = threading.Lock()
SEEN = {"calls": 0, "failed": []}


def varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def written(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, contents):
    return written(number << 3 | 2) + written(len(contents)) + contents


def infer(request):
    """The answer with the request's id (3) and first raw contents (7), and whether the call is to fail."""
    found = {}
    at = 0
    while at < len(request):
        tag, at = varint(request, at)
        length, at = varint(request, at)
        if tag & 7 == 2:
            found.setdefault(tag >> 3, request[at : at + length])
            at += length
    contents = found.get(7, b"")
    with LOCK:
        SEEN["calls"] += 1
        every = OPTIONS["failEvery"]
        fails = every > 0 and SEEN["calls"] % every == 0
        if fails:
            SEEN["failed"].append(contents.hex())
    answer = bytes.fromhex(OPTIONS["beginning"]) + field(3, found.get(3, b"")) + field(6, contents)
    return answer, fails


def listening(port):
    print(json.dumps({"port": port}), flush=True)


def end(*_):
    os.write(1, (json.dumps(SEEN) + "\n").encode())
    os._exit(0)


signal.signal(signal.SIGTERM, end)
