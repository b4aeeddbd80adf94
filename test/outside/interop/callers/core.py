"""A client on gRPC's own core that does on one channel what it is told: calling-client.ts says what.

Usage: core.py ADDRESS [CA]; a line of JSON in, a line of JSON out.
"""

import json
import queue
import sys

import grpc

OPTIONS = [
    ("grpc.ssl_target_name_override", "sut.test"),
    ("grpc.use_local_subchannel_pool", 1),
]
if len(sys.argv) > 2:
    with open(sys.argv[2], "rb") as file:
        CREDENTIALS = grpc.ssl_channel_credentials(file.read())
    CHANNEL = grpc.secure_channel(sys.argv[1], CREDENTIALS, OPTIONS)
else:
    CHANNEL = grpc.insecure_channel(sys.argv[1], OPTIONS[1:])

# What the open stream has to send; None ends it.
TO_SEND = queue.Queue()
STREAM = None


def ask(path, message, times):
    call = CHANNEL.unary_unary(path)
    futures = [call.future(bytes.fromhex(message), timeout=30) for _ in range(times)]
    return {"messages": [future.result().hex() for future in futures]}


def receive():
    message = next(STREAM, None)
    return {"messages": [] if message is None else [message.hex()]}


for line in sys.stdin:
    told = json.loads(line)
    answer = {"messages": []}
    try:
        if told["do"] == "ask":
            answer = ask(told["path"], told["message"], told["times"])
        elif told["do"] == "open":
            STREAM = CHANNEL.stream_stream(told["path"])(iter(TO_SEND.get, None))
        elif told["do"] == "send":
            TO_SEND.put(bytes.fromhex(told["message"]))
        elif told["do"] == "end":
            TO_SEND.put(None)
        else:
            answer = receive()
    except grpc.RpcError as error:
        answer = {"error": f"{error.code().name}: {error.details()}"}
    print(json.dumps(answer), flush=True)
