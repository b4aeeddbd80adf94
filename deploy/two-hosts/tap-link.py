#!/usr/bin/python3
"""A link between two network namespaces, for kernels without sch_netem.

Makes one TAP device in each namespace and carries Ethernet frames between them, each frame held back
for the one-way delay and sent at the rate at most. A share of the frames is lost, and what no longer
fits into the queue is dropped, as in front of a slow interface. Says "ready" on stdout. Ends on SIGTERM,
or, without --stay, with the process that started it; then its last line on stdout tells frames handed on,
lost and dropped, and how much later than asked they were handed on.

usage: tap-link.py [--stay] NAMESPACE_A ADDRESS_A NAMESPACE_B ADDRESS_B ONE_WAY_MS RATE_MBIT [LOSS [SEED [QUEUE [MTU]]]]
A namespace is a name under /run/netns, or the path of its file; RATE_MBIT may be inf; LOSS is a share,
0 to 1; QUEUE is in frames, those on the way included.
"""

import ctypes
import fcntl
import os
import random
import select
import signal
import struct
import subprocess
import sys
import time
from collections import deque

TUNSETIFF = 0x400454CA
IFF_TAP_NO_PI = 0x0002 | 0x1000
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
FRAMES_MAX = 4000
# Lateness is counted in bins of 10 us; the last one holds what is later than 20 ms.
BIN_S = 10e-6
BINS = 2000

libc = ctypes.CDLL(None, use_errno=True)


def enter(namespace_fd):
    if libc.setns(namespace_fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def make_tap(namespace, address, home, queue, mtu):
    path = namespace if "/" in namespace else f"/run/netns/{namespace}"
    enter(os.open(path, os.O_RDONLY))
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    name = fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH14x", b"lan%d", IFF_TAP_NO_PI))[:16]
    device = name.rstrip(b"\0").decode()
    for command in (
        f"ip addr add {address} dev {device}",
        f"ip link set {device} mtu {mtu} up txqueuelen {min(queue, FRAMES_MAX)}",
        "ip link set lo up",
    ):
        subprocess.check_call(command.split())
    enter(home)
    return tap


def percentile(bins, share):
    """Upper end of the bin that holds the percentile, in seconds."""
    rank = share * sum(bins)
    seen = 0
    for i, count in enumerate(bins):
        seen += count
        if count and seen >= rank:
            return (i + 1) * BIN_S
    return 0


def stop(*_):
    raise SystemExit(0)


def main():
    words = sys.argv[1:]
    stays = words[:1] == ["--stay"]
    words = words[stays:]
    space_a, address_a, space_b, address_b, delay_ms, rate_mbit = words[:6]
    loss, seed, queue_max, mtu = (words[6:] + ["0", "0", str(FRAMES_MAX), "9000"][len(words) - 6 :])[:4]
    loss, queue_max = float(loss), int(queue_max)
    chance = random.Random(int(seed)).random
    delay_s = float(delay_ms) / 1e3
    seconds_per_byte = 8 / (float(rate_mbit) * 1e6)
    if not stays:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    taps = [
        make_tap(space, address if "/" in address else f"{address}/24", home, queue_max, mtu)
        for space, address in ((space_a, address_a), (space_b, address_b))
    ]
    held = [deque(), deque()]
    free_at = [0.0, 0.0]
    carried = lost = dropped = 0
    late = [0] * BINS
    signal.signal(signal.SIGTERM, stop)
    print("ready", flush=True)
    try:
        while True:
            now = time.perf_counter()
            due = [queue[0][0] for queue in held if queue]
            wait = None if not due else max(min(due) - now, 0)
            readable, _, _ = select.select(taps, [], [], wait)
            for tap in readable:
                side = taps.index(tap)
                for _ in range(64):
                    try:
                        frame = os.read(tap, 65536)
                    except BlockingIOError:
                        break
                    if loss and chance() < loss:
                        lost += 1
                        continue
                    if len(held[side]) >= queue_max:
                        dropped += 1
                        continue
                    free_at[side] = max(time.perf_counter(), free_at[side]) + len(frame) * seconds_per_byte
                    held[side].append((free_at[side] + delay_s, frame))
            now = time.perf_counter()
            for side in (0, 1):
                while held[side] and held[side][0][0] <= now:
                    due_at, frame = held[side].popleft()
                    os.write(taps[1 - side], frame)
                    carried += 1
                    late[min(BINS - 1, int((now - due_at) / BIN_S))] += 1
    finally:
        p50_ms, p99_ms = (percentile(late, share) * 1e3 for share in (0.5, 0.99))
        late_text = f"late by {p50_ms:g} ms at p50, {p99_ms:g} ms at p99"
        print(f"handed {carried} frames on, {late_text}; lost {lost}, dropped {dropped}", flush=True)


main()
