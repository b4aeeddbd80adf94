"""The server of server.go on gRPC's own core: the same options, the same output."""

import signal
import time
from concurrent import futures

import grpc
from fields import OPTIONS, infer, listening


def infers(request, context):
    answer, fails = infer(request)
    yield answer
    time.sleep(OPTIONS["gapMs"] / 1000)
    if fails:
        context.abort(grpc.StatusCode.INTERNAL, "broken")


def control(answer):
    return grpc.unary_unary_rpc_method_handler(lambda request, context: bytes.fromhex(answer))


handlers = {name: control(answer) for name, answer in OPTIONS["control"].items()}
handlers["ModelInfer"] = grpc.unary_stream_rpc_method_handler(infers)
server = grpc.server(futures.ThreadPoolExecutor(16))
service = grpc.method_handlers_generic_handler("inference.GRPCInferenceService", handlers)
server.add_generic_rpc_handlers((service,))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
listening(port)
signal.pause()
