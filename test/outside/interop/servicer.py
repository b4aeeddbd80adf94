"""A small server of the Open Inference Protocol for tests of a client, on gRPC's own C++ core (grpcio).

    servicer.py STUBS OPTIONS

STUBS is the folder with open_inference_pb2.py, OPTIONS a JSON object: see DEFAULTS. Prints {"port": N} when it
listens, and what it saw as one JSON object when it is told to end by SIGTERM. Says nothing of models that real
servers run: it behaves like several servers in what their clients see of the protocol.
"""

import json
import signal
import struct
import sys
import threading
import time
from concurrent import futures

import grpc

DEFAULTS = {
    "service": "inference.GRPCInferenceService",
    "port": 0,
    "name": "servicer",
    # both: raw and typed are taken, raw is answered. ignore: raw is not read. refuse: raw is an error.
    "raw": "both",
    # Answers are typed where the request was, as MLServer and KServe do it; else always raw, as Triton does.
    "answersInKind": False,
    # wrapped: ModelStreamInferResponse. plain: ModelInferResponse, one per stream, as MLServer does it.
    "stream": "wrapped",
    # Methods that are not there.
    "missing": [],
    # ModelReady of an unknown model: false or an error of this name.
    "unknownReady": "false",
    # Tensors are not told, as TorchServe does it.
    "emptyMetadata": False,
    # Outputs in this order, and one more than the metadata tells.
    "reverseOutputs": False,
    # Seconds from the start until models are ready.
    "readyAfterS": 0,
    "delayMs": 0,
    # Every so many requests fail; 0: none.
    "failEvery": 0,
    "failCode": "INTERNAL",
    # Milliseconds between tokens.
    "tokenMs": 5,
    # A decoupled model's last token is marked as final, and no empty response follows.
    "finalOnLast": False,
    "workers": 8,
    # gRPC's channel arguments.
    "arguments": {},
    "tls": None,
}

ELEMENT_BYTES = {
    "BOOL": 1, "UINT8": 1, "UINT16": 2, "UINT32": 4, "UINT64": 8, "INT8": 1, "INT16": 2, "INT32": 4,
    "INT64": 8, "FP16": 2, "BF16": 2, "FP32": 4, "FP64": 8,
}  # fmt: skip
FORMATS = {
    "BOOL": "?", "UINT8": "B", "UINT16": "H", "UINT32": "I", "UINT64": "Q", "INT8": "b", "INT16": "h",
    "INT32": "i", "INT64": "q", "FP32": "f", "FP64": "d",
}  # fmt: skip
LISTS = {
    "BOOL": "bool_contents", "INT8": "int_contents", "INT16": "int_contents", "INT32": "int_contents",
    "INT64": "int64_contents", "UINT8": "uint_contents", "UINT16": "uint_contents", "UINT32": "uint_contents",
    "UINT64": "uint64_contents", "FP32": "fp32_contents", "FP64": "fp64_contents", "BYTES": "bytes_contents",
}  # fmt: skip

# name: inputs, outputs, largest batch (0: no batch axis), decoupled
MODELS = {
    "double": ([("x", "FP32", [4])], [("y", "FP32", [4])], 8, False),
    "free": ([("x", "FP32", [-1, 2])], [("y", "FP32", [-1, 2])], 8, False),
    "fixed": ([("x", "FP32", [1, 3])], [("y", "FP32", [1, 3])], 0, False),
    "two": (
        [("a", "FP32", [2]), ("b", "INT64", [1])],
        [("sum", "FP32", [1]), ("count", "INT64", [1])],
        8,
        False,
    ),
    "image": ([("pixels", "FP32", [3, 224, 224])], [("label", "INT64", [1])], 8, False),
    "digits": ([("image", "UINT8", [3, 28, 28])], [("label", "INT32", [1])], 8, False),
    "length": ([("text", "BYTES", [1])], [("bytes", "UINT32", [1])], 8, False),
    "tokens": ([("count", "INT32", [1])], [("token", "INT32", [1])], 0, True),
}
for datatype in [*ELEMENT_BYTES, "BYTES"]:
    MODELS["echo-" + datatype.lower()] = ([("x", datatype, [3])], [("y", datatype, [3])], 8, False)


class Refusal(Exception):
    """A request that is answered by an error."""

    def __init__(self, code, details):
        super().__init__(details)
        self.code = code
        self.details = details


def product(shape):
    result = 1
    for length in shape:
        result *= length
    return result


def elements_of_bytes(raw):
    """Elements of a BYTES tensor in raw contents."""
    elements, at = [], 0
    while at < len(raw):
        (length,) = struct.unpack_from("<I", raw, at)
        if at + 4 + length > len(raw):
            raise Refusal("INVALID_ARGUMENT", "BYTES element beyond the end of the raw contents")
        elements.append(raw[at + 4 : at + 4 + length])
        at += 4 + length
    return elements


def raw_of(datatype, contents):
    """Raw contents of typed ones."""
    values = getattr(contents, LISTS[datatype])
    if datatype == "BYTES":
        return b"".join(struct.pack("<I", len(value)) + value for value in values)
    return struct.pack(f"<{len(values)}{FORMATS[datatype]}", *values)


def fill(contents, datatype, raw):
    """Typed contents of raw ones."""
    if datatype == "BYTES":
        contents.bytes_contents.extend(elements_of_bytes(raw))
        return
    count = len(raw) // ELEMENT_BYTES[datatype]
    getattr(contents, LISTS[datatype]).extend(struct.unpack(f"<{count}{FORMATS[datatype]}", raw))


class Seen:
    """What a test wants to know afterwards."""

    def __init__(self):
        self.lock = threading.Lock()
        self.unary = self.streams = self.messages = self.raw = self.typed = 0
        self.concurrent = self.concurrent_max = 0
        self.batches = {}
        self.ids = set()
        self.repeated_ids = 0
        self.peers = set()
        self.methods = {}
        self.authorization = set()
        self.without_authorization = 0

    def begin(self, context):
        with self.lock:
            self.concurrent += 1
            self.concurrent_max = max(self.concurrent_max, self.concurrent)
            self.peers.add(context.peer())
            values = [value for key, value in context.invocation_metadata() if key == "authorization"]
            self.authorization.update(values)
            self.without_authorization += int(not values)

    def end(self):
        with self.lock:
            self.concurrent -= 1

    def facts(self):
        return {
            "unary": self.unary,
            "streams": self.streams,
            "messages": self.messages,
            "raw": self.raw,
            "typed": self.typed,
            "concurrentMax": self.concurrent_max,
            "batches": self.batches,
            "ids": len(self.ids),
            "emptyIds": int("" in self.ids),
            "repeatedIds": self.repeated_ids,
            "peers": len(self.peers),
            "methods": self.methods,
            "authorization": sorted(self.authorization),
            "withoutAuthorization": self.without_authorization,
        }


class Servicer:
    def __init__(self, pb, options):
        self.pb = pb
        self.options = options
        self.seen = Seen()
        self.count = 0
        self.begun = time.monotonic()
        self.statistics = {name: [0, 0] for name in MODELS}

    def is_ready(self):
        return time.monotonic() - self.begun >= self.options["readyAfterS"]

    def model(self, name, version=""):
        if name not in MODELS:
            raise Refusal("NOT_FOUND", f"Request for unknown model: '{name}' is not found")
        if version not in ("", "1"):
            raise Refusal("NOT_FOUND", f"Request for unknown model: '{name}' version {version} is not found")
        return MODELS[name]

    # Control methods

    def ServerLive(self, request, context):
        return self.pb.ServerLiveResponse(live=True)

    def ServerReady(self, request, context):
        return self.pb.ServerReadyResponse(ready=True)

    def ModelReady(self, request, context):
        if request.name not in MODELS and self.options["unknownReady"] != "false":
            raise Refusal(self.options["unknownReady"], f"Model {request.name} not found")
        return self.pb.ModelReadyResponse(ready=request.name in MODELS and self.is_ready())

    def ServerMetadata(self, request, context):
        return self.pb.ServerMetadataResponse(
            name=self.options["name"], version="1.0", extensions=["statistics", "model_repository"]
        )

    def ModelMetadata(self, request, context):
        inputs, outputs, batch, _ = self.model(request.name, request.version)
        answer = self.pb.ModelMetadataResponse(name=request.name, versions=["1"], platform="python")
        if self.options["emptyMetadata"]:
            return answer
        for tensors, to in ((inputs, answer.inputs), (outputs, answer.outputs)):
            for name, datatype, shape in tensors:
                axes = [-1, *shape] if batch > 0 else shape
                to.add(name=name, datatype=datatype, shape=axes)
        return answer

    def ModelConfig(self, request, context):
        _, _, batch, decoupled = self.model(request.name, request.version)
        config = self.pb.ModelConfig(name=request.name, platform="python", max_batch_size=batch)
        config.model_transaction_policy.decoupled = decoupled
        return self.pb.ModelConfigResponse(config=config)

    def ModelStatistics(self, request, context):
        answer = self.pb.ModelStatisticsResponse()
        for name, (count, nanoseconds) in self.statistics.items():
            if request.name not in ("", name):
                continue
            one = answer.model_stats.add(
                name=name, version="1", inference_count=count, execution_count=count
            )
            one.inference_stats.success.count = count
            one.inference_stats.success.ns = nanoseconds
            one.inference_stats.compute_infer.count = count
            one.inference_stats.compute_infer.ns = nanoseconds
            one.inference_stats.queue.count = count
        return answer

    def RepositoryIndex(self, request, context):
        answer = self.pb.RepositoryIndexResponse()
        for name in MODELS:
            answer.models.add(name=name, version="1", state="READY")
        return answer

    # Inference

    def inputs_of(self, request):
        """Raw contents by name, and whether they came raw."""
        model_inputs, _, batch_max, _ = self.model(request.model_name, request.model_version)
        raw = list(request.raw_input_contents)
        if raw and self.options["raw"] == "refuse":
            raise Refusal("INVALID_ARGUMENT", "raw_input_contents are not supported")
        if self.options["raw"] == "ignore":
            raw = []
        if raw and len(raw) != len(request.inputs):
            raise Refusal("INVALID_ARGUMENT", f"{len(raw)} raw contents for {len(request.inputs)} inputs")
        expected = {name: (datatype, shape) for name, datatype, shape in model_inputs}
        if {tensor.name for tensor in request.inputs} != set(expected):
            raise Refusal("INVALID_ARGUMENT", f"expected inputs {sorted(expected)}")
        tensors, batches = {}, set()
        for index, tensor in enumerate(request.inputs):
            datatype, shape = expected[tensor.name]
            axes = list(tensor.shape)
            if tensor.datatype != datatype:
                raise Refusal("INVALID_ARGUMENT", f"input {tensor.name} is {datatype}, not {tensor.datatype}")
            own = axes[1:] if batch_max > 0 else axes
            if len(own) != len(shape) or any(b not in (-1, a) for a, b in zip(own, shape)):
                raise Refusal("INVALID_ARGUMENT", f"unexpected shape for input '{tensor.name}': {axes}")
            if batch_max > 0:
                batches.add(axes[0])
            if raw and tensor.HasField("contents"):
                raise Refusal("INVALID_ARGUMENT", "contents field must not be specified when using raw_input_contents")
            bytes_ = raw[index] if raw else self.typed(tensor)
            count = len(elements_of_bytes(bytes_)) if datatype == "BYTES" else len(bytes_) / ELEMENT_BYTES[datatype]
            if count != product(axes):
                raise Refusal("INVALID_ARGUMENT", f"input {tensor.name}: {count} elements for {axes}")
            tensors[tensor.name] = (axes, bytes_)
        if len(batches) > 1:
            raise Refusal("INVALID_ARGUMENT", "batch sizes differ between inputs")
        batch = batches.pop() if batches else 1
        if batch_max > 0 and not 1 <= batch <= batch_max:
            raise Refusal("INVALID_ARGUMENT", f"inference request batch-size must be <= {batch_max}")
        with self.seen.lock:
            self.seen.batches[str(batch)] = self.seen.batches.get(str(batch), 0) + 1
        return tensors, batch, bool(raw)

    def typed(self, tensor):
        if tensor.datatype not in LISTS:
            raise Refusal("INVALID_ARGUMENT", f"{tensor.datatype} has no typed contents")
        return raw_of(tensor.datatype, tensor.contents)

    def outputs_of(self, name, tensors, batch):
        """(name, datatype, axes, raw) of each output."""
        if name == "two":
            (_, a), (_, b) = tensors["a"], tensors["b"]
            floats = struct.unpack(f"<{2 * batch}f", a)
            whole = struct.unpack(f"<{batch}q", b)
            sums = [floats[2 * i] + floats[2 * i + 1] + whole[i] for i in range(batch)]
            return [
                ("sum", "FP32", [batch, 1], struct.pack(f"<{batch}f", *sums)),
                ("count", "INT64", [batch, 1], b),
            ]
        if name == "image":
            pixels = tensors["pixels"][1]
            size = len(pixels) // batch
            firsts = [int(struct.unpack_from("<f", pixels, i * size)[0]) for i in range(batch)]
            return [("label", "INT64", [batch, 1], struct.pack(f"<{batch}q", *firsts))]
        if name == "digits":
            return [("label", "INT32", [batch, 1], struct.pack(f"<{batch}i", *([7] * batch)))]
        if name == "length":
            lengths = [len(one) for one in elements_of_bytes(tensors["text"][1])]
            return [("bytes", "UINT32", [batch, 1], struct.pack(f"<{batch}I", *lengths))]
        axes, raw = tensors["x"]
        if name in ("double", "free", "fixed"):
            values = struct.unpack(f"<{len(raw) // 4}f", raw)
            raw = struct.pack(f"<{len(values)}f", *(2 * value for value in values))
        return [("y", MODELS[name][1][0][1], axes, raw)]

    def answer(self, request, outputs, is_raw):
        answer = self.pb.ModelInferResponse(
            model_name=request.model_name, model_version="1", id=request.id
        )
        asked = {output.name for output in request.outputs}
        if self.options["reverseOutputs"]:
            outputs = [*reversed(outputs), ("other", "FP32", [1], struct.pack("<f", 1))]
            asked = set()
        for name, datatype, axes, raw in outputs:
            if asked and name not in asked:
                continue
            tensor = answer.outputs.add(name=name, datatype=datatype, shape=axes)
            if datatype in LISTS and (
                self.options["raw"] != "both" or (self.options["answersInKind"] and not is_raw)
            ):
                fill(tensor.contents, datatype, raw)
            else:
                answer.raw_output_contents.append(raw)
        return answer

    def note(self, request):
        with self.seen.lock:
            self.count += 1
            self.seen.repeated_ids += int(request.id in self.seen.ids)
            self.seen.ids.add(request.id)
            if request.raw_input_contents:
                self.seen.raw += 1
            else:
                self.seen.typed += 1
            every = self.options["failEvery"]
            fails = every > 0 and self.count % every == 0
        if fails:
            raise Refusal(self.options["failCode"], f"request {request.id} fails as the test wants it")

    def infer(self, request):
        begin = time.monotonic_ns()
        self.note(request)
        tensors, batch, is_raw = self.inputs_of(request)
        if self.options["delayMs"] > 0:
            time.sleep(self.options["delayMs"] / 1000)
        outputs = self.outputs_of(request.model_name, tensors, batch)
        with self.seen.lock:
            own = self.statistics[request.model_name]
            own[0] += batch
            own[1] += time.monotonic_ns() - begin
        return self.answer(request, outputs, is_raw)

    def ModelInfer(self, request, context):
        with self.seen.lock:
            self.seen.unary += 1
        if self.model(request.model_name, request.model_version)[3]:
            raise Refusal(
                "UNIMPLEMENTED", "ModelInfer RPC doesn't support models with decoupled transaction policy"
            )
        if not self.is_ready():
            raise Refusal("UNAVAILABLE", f"model {request.model_name} is not ready")
        return self.infer(request)

    def ModelStreamInfer(self, requests, context):
        with self.seen.lock:
            self.seen.streams += 1
        for request in requests:
            with self.seen.lock:
                self.seen.messages += 1
            if self.options["stream"] == "plain":
                yield self.infer(request)
                return
            try:
                if self.model(request.model_name, request.model_version)[3]:
                    yield from self.tokens(request)
                    continue
                wrapped = self.pb.ModelStreamInferResponse(infer_response=self.infer(request))
                wrapped.infer_response.parameters["triton_final_response"].bool_param = True
                yield wrapped
            except Refusal as refusal:
                yield self.pb.ModelStreamInferResponse(
                    error_message=refusal.details,
                    infer_response=self.pb.ModelInferResponse(id=request.id),
                )

    def tokens(self, request):
        self.note(request)
        tensors, _, is_raw = self.inputs_of(request)
        (count,) = struct.unpack("<i", tensors["count"][1])
        wants_final = request.parameters["triton_enable_empty_final_response"].bool_param
        final_on_last = self.options["finalOnLast"]
        for token in range(count):
            time.sleep(self.options["tokenMs"] / 1000)
            outputs = [("token", "INT32", [1], struct.pack("<i", token))]
            one = self.pb.ModelStreamInferResponse(infer_response=self.answer(request, outputs, is_raw))
            is_last = final_on_last and token == count - 1
            one.infer_response.parameters["triton_final_response"].bool_param = is_last
            yield one
        if wants_final and not (final_on_last and count > 0):
            final = self.pb.ModelStreamInferResponse()
            final.infer_response.id = request.id
            final.infer_response.model_name = request.model_name
            final.infer_response.parameters["triton_final_response"].bool_param = True
            yield final


def guarded(servicer, name, method):
    """A handler that tells the servicer of each call and turns refusals into codes."""

    def call(request, context):
        with servicer.seen.lock:
            methods = servicer.seen.methods
            methods[name] = methods.get(name, 0) + 1
        servicer.seen.begin(context)
        try:
            return method(request, context)
        except Refusal as refusal:
            context.abort(grpc.StatusCode[refusal.code], refusal.details)
        finally:
            servicer.seen.end()

    def stream(requests, context):
        with servicer.seen.lock:
            methods = servicer.seen.methods
            methods[name] = methods.get(name, 0) + 1
        servicer.seen.begin(context)
        try:
            yield from method(requests, context)
        except Refusal as refusal:
            context.abort(grpc.StatusCode[refusal.code], refusal.details)
        finally:
            servicer.seen.end()

    return stream if name == "ModelStreamInfer" else call


def handlers(pb, servicer, options):
    names = [
        "ServerLive", "ServerReady", "ModelReady", "ServerMetadata", "ModelMetadata", "ModelConfig",
        "ModelStatistics", "RepositoryIndex", "ModelInfer", "ModelStreamInfer",
    ]  # fmt: skip
    made = {}
    for name in names:
        if name in options["missing"]:
            continue
        prefix = "ModelInfer" if name == "ModelStreamInfer" else name
        kind = grpc.stream_stream_rpc_method_handler if name == "ModelStreamInfer" else grpc.unary_unary_rpc_method_handler
        made[name] = kind(
            guarded(servicer, name, getattr(servicer, name)),
            request_deserializer=getattr(pb, prefix + "Request").FromString,
            response_serializer=lambda message: message.SerializeToString(),
        )
    return grpc.method_handlers_generic_handler(options["service"], made)


def credentials(tls):
    def read(file):
        with open(file, "rb") as bytes_:
            return bytes_.read()

    authority = read(tls["clientCa"]) if "clientCa" in tls else None
    pair = (read(tls["key"]), read(tls["cert"]))
    return grpc.ssl_server_credentials([pair], authority, authority is not None)


def main():
    stubs, options = sys.argv[1], {**DEFAULTS, **json.loads(sys.argv[2])}
    unknown = set(options) - set(DEFAULTS)
    if unknown:
        sys.exit(f"unknown options: {sorted(unknown)}")
    sys.path.insert(0, stubs)
    import open_inference_pb2 as pb

    servicer = Servicer(pb, options)
    server = grpc.server(
        futures.ThreadPoolExecutor(options["workers"]), options=list(options["arguments"].items())
    )
    server.add_generic_rpc_handlers((handlers(pb, servicer, options),))
    address = f"127.0.0.1:{options['port']}"
    if options["tls"] is None:
        port = server.add_insecure_port(address)
    else:
        port = server.add_secure_port(address, credentials(options["tls"]))
    if port == 0:
        sys.exit(f"cannot listen at {address}")
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    server.start()
    print(json.dumps({"port": port}), flush=True)
    ended.wait()
    server.stop(0.2).wait()
    print(json.dumps(servicer.seen.facts()), flush=True)


main()
