"""A client of token streams on gRPC's own core and protobuf's own classes: all it knows of longhaul is the .proto.

Usage: token-streams.py ADDRESS BENCHMARK; samples on stdin as JSON [[int, ...], ...]; prints what came, as JSON.
"""

import json
import queue
import struct
import sys
import time

import grpc
from mlperf.network.v1 import sut_pb2

ADDRESS, BENCHMARK = sys.argv[1:]
SAMPLES = json.load(sys.stdin)
SERVICE = "/mlperf.network.v1.SystemUnderTest/"
CHANNEL = grpc.insecure_channel(ADDRESS)
TO_SEND = queue.Queue()


def wait_until_ready():
    ready = CHANNEL.unary_unary(
        SERVICE + "Ready",
        request_serializer=sut_pb2.ReadyRequest.SerializeToString,
        response_deserializer=sut_pb2.ReadyResponse.FromString,
    )
    while not ready(sut_pb2.ReadyRequest(benchmark=BENCHMARK), timeout=30).ready:
        time.sleep(0.05)


def describe_model():
    describe = CHANNEL.unary_unary(
        SERVICE + "Describe",
        request_serializer=sut_pb2.DescribeRequest.SerializeToString,
        response_deserializer=sut_pb2.DescribeResponse.FromString,
    )
    models = describe(sut_pb2.DescribeRequest(), timeout=30).models
    return next(model for model in models if model.benchmark == BENCHMARK)


def ids_of(payload):
    return [token for (token,) in struct.iter_unpack("<i", payload)]


def open_stream():
    TO_SEND.put(
        sut_pb2.LoadGenMessage(
            open=sut_pb2.Open(
                protocol_version=1,
                run_id="python",
                benchmark=BENCHMARK,
                division=sut_pb2.DIVISION_NETWORK,
                encodings=MODEL.encodings[:1],
                response_encodings=MODEL.response_encodings[:1],
                features=["token-stream"],
                token_latencies=True,
            )
        )
    )


def part(query, sample):
    payload = struct.pack(f"<{len(sample)}i", *sample)
    samples = [sut_pb2.Sample(id=query + 100, payload=payload)]
    return sut_pb2.Part(query=query, query_sample_count=1, samples=samples)


def read(responses, seen):
    for first in responses.first_tokens:
        seen.append({"id": first.id, "what": "first", "tokens": ids_of(first.payload)})
    for told in responses.tokens:
        seen.append({"id": told.id, "what": "tokens", "tokens": ids_of(told.payload)})
    for done in responses.completed:
        response = {"id": done.id, "what": "completed", "tokens": ids_of(done.payload)}
        seen.append({**response, "count": done.token_count})
    for failed in responses.failed:
        seen.append({"id": failed.id, "what": failed.text, "tokens": []})
    return len(responses.completed) + len(responses.failed)


wait_until_ready()
MODEL = describe_model()
open_stream()
STREAM = CHANNEL.stream_stream(
    SERVICE + "Infer",
    request_serializer=sut_pb2.LoadGenMessage.SerializeToString,
    response_deserializer=sut_pb2.SutMessage.FromString,
)(iter(TO_SEND.get, None), timeout=120)
features = []
seen = []
left = len(SAMPLES)
for message in STREAM:
    kind = message.WhichOneof("message")
    if kind == "opened":
        features = list(message.opened.features)
        for query, sample in enumerate(SAMPLES):
            TO_SEND.put(sut_pb2.LoadGenMessage(part=part(query, sample)))
    elif kind == "responses":
        left -= read(message.responses, seen)
    if left == 0:
        TO_SEND.put(sut_pb2.LoadGenMessage(close=sut_pb2.Close()))
        TO_SEND.put(None)
        left = -1
print(json.dumps({"features": features, "seen": seen}))
