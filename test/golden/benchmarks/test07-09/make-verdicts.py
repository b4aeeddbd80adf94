#!/usr/bin/env python3
"""Writes verdicts.json: what the run_verification.py of TEST07, TEST08 and TEST09 say of made-up logs.

usage: make-verdicts.py COMPLIANCE   (folder compliance/ of mlcommons/inference; needs NumPy)
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

compliance = os.path.abspath(sys.argv[1])


def accuracy_log(folder, name, responses):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        json.dump([{"seq_id": i, "qsl_idx": i, "data": data.hex()} for i, data in enumerate(responses)], file)
    return path


def run(test, folder, args):
    script = os.path.join(compliance, test, "run_verification.py")
    ended = subprocess.run([sys.executable, script, *args], cwd=folder, capture_output=True, text=True)
    return ended.returncode, ended.stdout


def text_of(path):
    return open(path).read() if os.path.exists(path) else None


def test07(output):
    with tempfile.TemporaryDirectory() as folder:
        accuracy_log(folder, "mlperf_log_accuracy.json", [b"\1\0\0\0"])
        with open(os.path.join(folder, "output.txt"), "w") as file:
            file.write(output)
        config = os.path.join(compliance, "TEST07/gpt-oss-120b/audit.config")
        run("TEST07", folder, ["-c", folder, "-o", folder, "--audit-config", config, "--accuracy-script", "cat output.txt"])
        return {"output": output, "text": text_of(os.path.join(folder, "TEST07/verify_accuracy.txt"))}


def test08(accuracy, test):
    with tempfile.TemporaryDirectory() as folder:
        pack = lambda rows: [struct.pack(f"<{len(row)}f", *row) for row in rows]
        reference = accuracy_log(folder, "reference.json", pack(accuracy))
        tested = accuracy_log(folder, "test.json", pack(test))
        code, text = run("TEST08", folder, ["-r", reference, "-t", tested])
        # A script that breaks off has no verdict.
        return {"accuracy": accuracy, "test": test, "text": text if "TEST08 verification complete" in text else None}


def test09(model, lengths):
    with tempfile.TemporaryDirectory() as folder:
        accuracy_log(folder, "mlperf_log_accuracy.json", [b"\5\0\0\0" * length for length in lengths])
        config = os.path.join(compliance, "TEST09", model, "audit.config")
        code, _ = run("TEST09", folder, ["-c", folder, "-o", folder, "--audit-config", config])
        return {"model": model, "lengths": lengths, "text": text_of(os.path.join(folder, "TEST09/verify_output_len.txt"))}


def sample(ts, query, predictions, labels, weights):
    return [ts, query, *predictions, *labels, *weights, len(labels)]


A = sample(1, 7, [0.25, 0.75, 0.5], [0, 1, 1], [1, 1, 2])
B = sample(2, 7, [0.125], [1], [1])
ALIKE = [[1, 7, 0.25, 0.75, 0.5], [2, 7, 0.125]]
# Predictions near 0, where 32 bits show.
SURE = sample(3, 1, [2e-5, 3e-6, 0.99999], [0, 0, 1], [1, 1, 1])
EMPTY = sample(4, 1, [0.5, 0.5], [0, 1], [0, 0])

cases = {
    "TEST07": {
        "passes": test07("evaluated\n'exact_match': 62.15\n"),
        "exactly the threshold": test07("{'exact_match': 60.698, 'samples': 990}"),
        "below the threshold": test07("'exact_match': 60.697\n"),
        "the first score counts": test07("'exact_match': 12\n'exact_match': 70.5\n"),
        "no score": test07("exact_match = 70.5\n"),
        "a score that is no number": test07("'exact_match': 70.5.1\n"),
    },
    "TEST08": {
        "the same": test08([A, B, SURE, EMPTY], ALIKE + [SURE[:5], EMPTY[:4]]),
        "less than 0.1 % away": test08([A, B], [[1, 7, 0.25, 0.75, 0.5004], [2, 7, 0.125]]),
        "more than 0.1 % away": test08([A, B], [[1, 7, 0.25, 0.75, 0.51], [2, 7, 0.125]]),
        "better by more than 0.1 %": test08([A, B], [[1, 7, 0.2, 0.75, 0.5], [2, 7, 0.125]]),
        "sure ones less than 32 bits show away": test08([SURE], [[3, 1, 2e-5, 2.96e-6, 0.99999]]),
        "sure ones far away": test08([SURE], [[3, 1, 4e-5, 3e-6, 0.99999]]),
        "another query": test08([A, B], [[1, 7, 0.25, 0.75, 0.5], [2, 8, 0.125]]),
        "no response": test08([A, B], []),
        "one prediction for all": test08([A], [[1, 7, 0.5]]),
        "a prediction too few": test08([A], [[1, 7, 0.25, 0.75]]),
        "no number": test08([A], [[1, 7, 0.25, float("nan"), 0.5]]),
        "the last of the accuracy run counts": test08([sample(1, 7, [0.9, 0.1, 0.5], [0, 1, 1], [1, 1, 2]), A], ALIKE[:1]),
        "an accuracy response without labels": test08([A, [5, 5, 0.5, 0.25, 1]], ALIKE[:1]),
        "out of 0 and 1": test08([A], [[1, 7, -3, 1.5, 0.5]]),
    },
    "TEST09": {
        "passes": test09("gpt-oss-120b", [1278, 1300, 1200]),
        "too short": test09("gpt-oss-120b", [1000, 1200, 1250]),
        "too long": test09("gpt-oss-120b", [1407, 1406, 1406]),
        "an empty one": test09("gpt-oss-120b", [0, 2400, 1200]),
        "rag passes": test09("e2e-rag-qna", [246, 247, 247, 247]),
        "rag too short": test09("e2e-rag-qna", [246, 246, 247, 246]),
        "a tie of digits": test09("e2e-rag-qna", [250, 250, 250, 251, 251, 250, 250, 251]),
        "no response": test09("gpt-oss-120b", []),
    },
}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "verdicts.json"), "w") as file:
    # NaN is no JSON.
    file.write(json.dumps(cases, indent=1).replace("NaN", '"NaN"') + "\n")
