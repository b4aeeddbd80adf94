#!/usr/bin/python3
"""A link with delay between two network namespaces, for kernels without sch_netem.

Makes one TAP device in each namespace and carries Ethernet frames between them, each frame held back
for the one-way delay and sent at the rate at most. Says "ready" on stdout; ends on SIGTERM.

usage: tap-link.py NAMESPACE_A ADDRESS_A NAMESPACE_B ADDRESS_B ONE_WAY_MS RATE_MBIT
"""

import ctypes
import fcntl
import os
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
FRAMES_MAX = 4000
MTU = 9000

libc = ctypes.CDLL(None, use_errno=True)


def enter(namespace_fd):
    if libc.setns(namespace_fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def make_tap(namespace, address, home):
    enter(os.open(f"/run/netns/{namespace}", os.O_RDONLY))
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", b"lan0", IFF_TAP_NO_PI))
    for command in (
        f"ip addr add {address}/24 dev lan0",
        f"ip link set lan0 mtu {MTU} up txqueuelen {FRAMES_MAX}",
        "ip link set lo up",
    ):
        subprocess.check_call(command.split())
    enter(home)
    return tap


def stop(*_):
    raise SystemExit(0)


def main():
    space_a, address_a, space_b, address_b, delay_ms, rate_mbit = sys.argv[1:7]
    delay_s = float(delay_ms) / 1e3
    seconds_per_byte = 8 / (float(rate_mbit) * 1e6)
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    taps = [make_tap(space_a, address_a, home), make_tap(space_b, address_b, home)]
    held = [deque(), deque()]
    free_at = [0.0, 0.0]
    signal.signal(signal.SIGTERM, stop)
    print("ready", flush=True)
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
                if len(held[side]) >= FRAMES_MAX:
                    continue
                free_at[side] = max(time.perf_counter(), free_at[side]) + len(frame) * seconds_per_byte
                held[side].append((free_at[side] + delay_s, frame))
        now = time.perf_counter()
        for side in (0, 1):
            while held[side] and held[side][0][0] <= now:
                os.write(taps[1 - side], held[side].popleft()[1])


main()
