#!/usr/bin/python3
"""Measures what a setting does to longhaul, as deploy/tuning.md tells it: two values in turn, medians, ratios.

Needs Linux, root, iproute2 and a built clone. LoadGen and a SUT node without a model run in two network namespaces with
a link of a known delay between them (deploy/two-hosts/tap-link.py), or on loopback. Everything ends with the script.

usage: measure.py window|buffers|connections|mtu|semi-space|affinity|spinning|quota [--rounds N]
"""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
MAIN = REPOSITORY / "dist/loadgen-node/main.js"
TAP_LINK = REPOSITORY / "deploy/two-hosts/tap-link.py"
NEAR, FAR = "longhaul-tune-lg", "longhaul-tune-sut"
FAR_ADDRESS = "10.78.0.2"
# Of the image that ResNet-50 takes: 224 x 224 x 3 floats.
SAMPLE_BYTES = 602112


class Link:
    """Two namespaces and a link between them; as a context."""

    def __init__(self, one_way_ms, rate_mbit=1000, kind="tap"):
        self.arguments = [NEAR, "10.78.0.1", FAR, FAR_ADDRESS, str(one_way_ms), str(rate_mbit)]
        self.kind = kind
        self.process = None
        self.made = []

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            # A context that was not entered is not left either: what was begun ends here.
            self.__exit__()
            raise
        return self

    def begin(self):
        for name in (NEAR, FAR):
            run("ip", "netns", "add", name)
            self.made.append(name)
        if self.kind == "veth":
            self.join_by_veth()
            return
        command = ["/usr/bin/python3", str(TAP_LINK), *self.arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.process.stdout.readline().strip() != "ready":
            said = self.process.communicate()[1].strip()
            raise SystemExit(f"the link did not become ready: {' '.join(command)}\n{said}")

    def join_by_veth(self):
        run("ip", "link", "add", "lan0", "netns", NEAR, "type", "veth", "peer", "name", "lan0", "netns", FAR)
        for name, address in ((NEAR, "10.78.0.1"), (FAR, FAR_ADDRESS)):
            run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "lan0")
            # As a card without segmentation: every packet goes through the kernel by itself.
            run("ip", "-n", name, "link", "set", "lan0", "gso_max_segs", "1", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")

    def __exit__(self, *_):
        if self.process:
            self.process.terminate()
            self.process.wait()
        for name in self.made:
            subprocess.call(["ip", "netns", "del", name])


def run(*command):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {ended.stderr.strip()}")
    return ended.stdout


class Node:
    """A SUT node, without a model unless it is told; as a context."""

    def __init__(self, inside=(), flags=(), before=(), benchmark="null"):
        self.benchmark = benchmark
        address = FAR_ADDRESS if inside else "127.0.0.1"
        self.address = f"{address}:50991"
        verb = ["sut", "--benchmark", benchmark, "--listen", self.address, "--node", "sut-a", *flags]
        self.command = [*inside, *before, "node", str(MAIN), *verb]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "ready" in line:
                return self
        raise SystemExit(f"the node did not become ready: {' '.join(self.command)}")

    def cpu_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def loadgen(node, flags, inside=(), before=(), node_flags=()):
    """One run; what its summary says, and the CPU seconds of LoadGen."""
    folder = tempfile.mkdtemp(prefix="longhaul-tuning-")
    verb = ["run", "--sut", node.address, "--benchmark", node.benchmark, "--output", folder + "/run", "--json"]
    command = [*inside, *before, "node", *node_flags, str(MAIN), *verb, "--records", "none", "--report", "none", *flags]
    began = os.times()
    ended = subprocess.run(command, capture_output=True, text=True)
    now = os.times()
    shutil.rmtree(folder)
    if ended.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}\n{ended.stderr}")
    summary = json.loads(ended.stdout)
    summary["cpuSeconds"] = now.children_user + now.children_system - began.children_user - began.children_system
    return summary


def in_turn(values, rounds, measure):
    """Each value once per round, one after the other; figures by value."""
    figures = {value: [] for value in values}
    for _ in range(rounds):
        for value in values:
            figures[value].append(measure(value))
    return figures


def tell(what, figures, unit, digits=1):
    print(what)
    first = None
    for value, seen in figures.items():
        middle = statistics.median(seen)
        first = first if first is not None else middle
        ratio = f"{middle / first:.2f}" if first else "-"
        print(f"  {str(value):<28} {middle:>10.{digits}f} {unit:<10} from {min(seen):.{digits}f} to {max(seen):.{digits}f}   x {ratio}")
    sys.stdout.flush()


def inside(name):
    return ("ip", "netns", "exec", name)


def rate(summary):
    return summary["figures"]["completed_qps"] * SAMPLE_BYTES * 8 / 1e6


def offline(samples, *more):
    return [
        *("--scenario", "Offline", "--sample-bytes", str(SAMPLE_BYTES), "--sample-count", "64"),
        *("--target-qps", "1", "--min-duration", "1s", "--min-query-count", str(samples), *more),
    ]


def window(rounds):
    for one_way_ms in (0.5, 5):
        with Link(one_way_ms):
            def measure(size):
                with Node(inside(FAR), ["--receive-window-bytes", str(size)]) as node:
                    return rate(loadgen(node, offline(30 if size < 1e6 else 200), inside(NEAR)))
            tell(f"HTTP/2 window of the node, {2 * one_way_ms} ms round trip", in_turn((65535, 1048576, 16777216), rounds, measure), "Mbit/s")


def buffers(rounds):
    with Link(5), Node(inside(FAR)) as node:
        def measure(size):
            for name, key, rest in ((FAR, "tcp_rmem", "4096 131072"), (NEAR, "tcp_wmem", "4096 16384")):
                run(*inside(name), "sysctl", "-w", f"net.ipv4.{key}={rest} {size}")
            return rate(loadgen(node, offline(60 if size < 1e6 else 200), inside(NEAR)))
        tell("largest tcp_rmem and tcp_wmem, 10 ms round trip", in_turn((262144, 1048576, 6291456, 33554432), rounds, measure), "Mbit/s")


def connections(rounds):
    with Link(5), Node(inside(FAR), ["--receive-window-bytes", "65535"]) as node:
        def measure(count):
            more = ["--streams", str(count), "--connections", str(count)]
            return rate(loadgen(node, offline(30 * count, *more), inside(NEAR)))
        tell("connections, window of 64 KiB, 10 ms round trip", in_turn((1, 2, 4), rounds, measure), "Mbit/s")


def mtu(rounds):
    with Link(0, kind="veth"), Node(inside(FAR)) as node:
        def measure(size):
            for name in (NEAR, FAR):
                run("ip", "-n", name, "link", "set", "lan0", "mtu", str(size))
            before = node.cpu_seconds()
            summary = loadgen(node, offline(400), inside(NEAR))
            gigabytes = summary["figures"]["samples"] * SAMPLE_BYTES / 1e9
            return (summary["cpuSeconds"] + node.cpu_seconds() - before) / gigabytes
        tell("MTU, a link without segmentation offload: CPU of both ends", in_turn((1500, 9000), rounds, measure), "s/GB", 2)


def semi_space(rounds):
    seen = {}
    with Node() as node:
        def measure(size):
            flags = ["--scenario", "Server", "--target-qps", "1000", "--sample-bytes", "1024", "--min-duration", "8s"]
            own = [] if size == "default (16)" else [f"--max-semi-space-size={size}"]
            gc = loadgen(node, flags, node_flags=own)["health"]["gc"]
            seen.setdefault(size, []).append(gc)
            return gc["totalNs"] / 1e6
        figures = in_turn(("default (16)", 1, 64, 128), rounds, measure)
    tell("semi-space in MiB: pauses of LoadGen in 8 s at 1,000 queries/s, together", figures, "ms")
    tell("  their number", {size: [gc["count"] for gc in all_gc] for size, all_gc in seen.items()}, "", 0)
    tell("  the longest", {size: [gc["maxNs"] / 1e6 for gc in all_gc] for size, all_gc in seen.items()}, "ms")


def affinity(rounds):
    flags = ["--scenario", "Server", "--target-qps", "500", "--sample-bytes", "1024", "--min-duration", "6s"]
    lags = {}
    def measure(value):
        node_on, loadgen_on = {"one CPU for both": ("0", "0"), "a CPU for each": ("0", "1"), "free": ("0,1", "0,1")}[value]
        with Node(before=("taskset", "-c", node_on)) as node:
            figures = loadgen(node, flags, before=("taskset", "-c", loadgen_on))["figures"]
        lags.setdefault(value, []).append(figures["lag_p99"] / 1e6)
        return figures["p99"] / 1e6
    figures = in_turn(("free", "a CPU for each", "one CPU for both"), rounds, measure)
    tell("CPU affinity of LoadGen and node: p99 of the latency at 500 queries/s", figures, "ms", 2)
    tell("  p99 of the dispatch lag", lags, "ms", 2)


def spinning(rounds):
    flags = ["--scenario", "Server", "--target-qps", "30", "--min-duration", "5s"]
    def measure(value):
        with Node(flags=["--threads-per-worker", "2", "--spinning", value], benchmark="digits") as node:
            before = node.cpu_seconds()
            figures = loadgen(node, flags)["figures"]
            return 1000 * (node.cpu_seconds() - before) / figures["queries"]
    tell("ONNX Runtime's spinning, 2 threads, 30 queries/s: CPU of the node", in_turn(("off", "on"), rounds, measure), "ms/query", 2)


def quota_group():
    """A control group for a quota, and a function that sets its microseconds in each 100 ms; None: no quota."""
    old = Path("/sys/fs/cgroup/cpu/cpu.shares").exists()
    if not old:
        Path("/sys/fs/cgroup/cgroup.subtree_control").write_text("+cpu")
    group = Path("/sys/fs/cgroup/cpu/longhaul-tuning" if old else "/sys/fs/cgroup/longhaul-tuning")
    group.mkdir(exist_ok=True)

    def limit(micros):
        if old:
            (group / "cpu.cfs_quota_us").write_text(str(-1 if micros is None else micros))
        else:
            (group / "cpu.max").write_text(f"{'max' if micros is None else micros} 100000")

    return group, limit


def quota(rounds):
    group, limit = quota_group()
    flags = ["--scenario", "Server", "--target-qps", "300", "--sample-bytes", "1024", "--min-duration", "6s"]
    stalls = {}

    def throttled():
        return int((group / "cpu.stat").read_text().split("nr_throttled ")[1].split()[0])

    def measure(value):
        limit({"none": None, "0.5 CPU": 50000, "0.2 CPU": 20000}[value])
        before = throttled()
        enter = ("sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh")
        with Node() as node:
            figures = loadgen(node, flags, before=enter)["figures"]
        stalls.setdefault(value, []).append(throttled() - before)
        return figures["lag_p99"] / 1e6

    try:
        figures = in_turn(("none", "0.5 CPU", "0.2 CPU"), rounds, measure)
    finally:
        time.sleep(0.2)
        group.rmdir()
    tell("CPU quota of LoadGen's control group: p99 of the dispatch lag at 300 queries/s", figures, "ms", 2)
    tell("  periods in which it was throttled", stalls, "", 0)


def main():
    # Ends what was begun: namespaces, nodes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    known = {
        **{"window": window, "buffers": buffers, "connections": connections, "mtu": mtu},
        **{"semi-space": semi_space, "affinity": affinity, "spinning": spinning, "quota": quota},
    }
    arguments = sys.argv[1:]
    rounds = int(arguments.pop(arguments.index("--rounds") + 1)) if "--rounds" in arguments else 5
    names = [name for name in arguments if name != "--rounds"]
    if not names or any(name not in known for name in names):
        sys.exit(f"measure.py: {', '.join(known)} can be measured\n{__doc__}")
    if os.geteuid() != 0:
        sys.exit("measure.py: root is needed, for namespaces and control groups")
    for file in (MAIN, TAP_LINK):
        if not file.is_file():
            sys.exit(f"measure.py: {file} is missing: a built clone is needed (npm ci && npm run build)")
    for name in names:
        known[name](rounds)


if __name__ == "__main__":
    main()
