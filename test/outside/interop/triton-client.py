"""Steps of NVIDIA's tritonclient against one server, for a test.

    triton-client.py ADDRESS <STEPS

STEPS is a JSON list of {"call": NAME, ...} on standard input; each answer is printed as one line of JSON, in their order. A call that
the server refuses prints {"error": {"status", "message"}}. The folder of the client's source is in PYTHONPATH.
"""

import base64
import json
import queue
import sys
import time

import numpy as np
import tritonclient.grpc as triton
from google.protobuf.json_format import MessageToDict
from tritonclient.utils import InferenceServerException, triton_to_np_dtype

TIMEOUT_S = 30


def array(one):
    """Values of a tensor as the client wants them. BF16 is given as FP32, from which the client makes it."""
    values, datatype, shape = one["values"], one["datatype"], one["shape"]
    if datatype == "BYTES":
        elements = [base64.b64decode(value) if one.get("base64") else str(value).encode() for value in values]
        return np.array(elements, dtype=np.object_).reshape(shape)
    kind = np.float32 if datatype == "BF16" else triton_to_np_dtype(datatype)
    return np.array(values, dtype=kind).reshape(shape)


class TypedInput(triton.InferInput):
    """An input whose values travel in the typed lists: tritonclient itself writes raw contents only."""

    FIELDS = {
        "BOOL": "bool_contents", "INT8": "int_contents", "INT16": "int_contents", "INT32": "int_contents",
        "INT64": "int64_contents", "UINT8": "uint_contents", "UINT16": "uint_contents", "UINT32": "uint_contents",
        "UINT64": "uint64_contents", "FP32": "fp32_contents", "FP64": "fp64_contents", "BYTES": "bytes_contents",
    }  # fmt: skip

    def set_values(self, values):
        field = getattr(self._input.contents, self.FIELDS[self._input.datatype])
        field.extend(values.flatten().tolist())
        self._raw_content = None


def inputs_of(step):
    made = []
    for one in step["inputs"]:
        values = array(one)
        shape = one.get("sayShape", one["shape"])
        if step.get("typed", False):
            tensor = TypedInput(one["name"], shape, one["datatype"])
            tensor.set_values(values)
        else:
            tensor = triton.InferInput(one["name"], one["shape"], one["datatype"])
            tensor.set_data_from_numpy(values)
            tensor.set_shape(shape)
        made.append(tensor)
    return made


def outputs_of(step):
    if "outputs" not in step:
        return None
    return [triton.InferRequestedOutput(name, class_count=step.get("classes", 0)) for name in step["outputs"]]


def plain(values):
    """An array as JSON."""
    if values is None:
        return None
    if values.dtype == np.object_:
        return [one.decode() for one in values.flatten().tolist()]
    return values.flatten().tolist()


def facts_of(result):
    response = result.get_response()
    return {
        "id": response.id,
        "model": response.model_name,
        "version": response.model_version,
        "isRaw": len(response.raw_output_contents) > 0,
        "isFinal": response.parameters["triton_final_response"].bool_param
        if "triton_final_response" in response.parameters
        else None,
        "outputs": {
            one.name: {
                "datatype": one.datatype,
                "shape": list(one.shape),
                "values": plain(result.as_numpy(one.name)),
            }
            for one in response.outputs
        },
    }


def error_of(error):
    return {"error": {"status": error.status(), "message": error.message()}}


def infer(client, step):
    result = client.infer(
        step["model"],
        inputs_of(step),
        model_version=step.get("version", ""),
        outputs=outputs_of(step),
        request_id=step.get("id", ""),
        timeout=step.get("timeout"),
        client_timeout=TIMEOUT_S,
        headers=step.get("headers"),
        compression_algorithm=step.get("compression"),
        parameters=step.get("parameters"),
    )
    return facts_of(result)


def many(client, step):
    """So many asynchronous inferences at once; how many answers were right, and the time it took."""
    answers = queue.Queue()
    begin = time.monotonic()
    for index in range(step["count"]):
        one = {**step, "inputs": [{**tensor, "values": [index] * len(tensor["values"])} for tensor in step["inputs"]]}
        callback = lambda result, error, index=index: answers.put((index, result, error))
        client.async_infer(step["model"], inputs_of(one), callback, request_id=str(index))
    right = errors = 0
    for _ in range(step["count"]):
        index, result, error = answers.get(timeout=TIMEOUT_S)
        if error is not None:
            errors += 1
        elif result.get_response().id == str(index):
            values = plain(result.as_numpy(step["output"]))
            right += int(values == [step["factor"] * index] * len(values))
    return {"right": right, "errors": errors, "seconds": time.monotonic() - begin}


def stream(client, step):
    """Messages on one stream, then its responses, with the time between them."""
    answers = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)), headers=step.get("headers"))
    for one in step["requests"]:
        client.async_stream_infer(
            one["model"],
            inputs_of(one),
            request_id=one.get("id", ""),
            outputs=outputs_of(one),
            enable_empty_final_response=one.get("wantsFinal", False),
        )
    got = []
    begin = time.monotonic()
    for _ in range(step["count"]):
        try:
            result, error = answers.get(timeout=step.get("waitS", TIMEOUT_S))
        except queue.Empty:
            break
        fact = facts_of(result) if error is None else error_of(error)
        got.append({**fact, "atS": time.monotonic() - begin})
    client.stop_stream(cancel_requests=step.get("cancel", False))
    return got


def await_model(client, step):
    """Asks until the model is ready."""
    deadline = time.monotonic() + TIMEOUT_S
    while not client.is_model_ready(step["model"]):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def as_dict(message):
    return MessageToDict(message, preserving_proto_field_name=True, including_default_value_fields=True)


CALLS = {
    "live": lambda client, step: client.is_server_live(),
    "ready": lambda client, step: client.is_server_ready(),
    "model-ready": lambda client, step: client.is_model_ready(step["model"], step.get("version", "")),
    "await": await_model,
    "server": lambda client, step: as_dict(client.get_server_metadata()),
    "metadata": lambda client, step: as_dict(client.get_model_metadata(step["model"], step.get("version", ""))),
    "config": lambda client, step: as_dict(client.get_model_config(step["model"])),
    "index": lambda client, step: as_dict(client.get_model_repository_index()),
    "statistics": lambda client, step: as_dict(client.get_inference_statistics(step.get("model", ""))),
    "load": lambda client, step: client.load_model(step["model"]),
    "infer": infer,
    "many": many,
    "stream": stream,
}


def main():
    address, steps = sys.argv[1], json.load(sys.stdin)
    tls = steps.pop(0) if steps and steps[0]["call"] == "tls" else {}
    client = triton.InferenceServerClient(
        address,
        ssl="ca" in tls,
        root_certificates=tls.get("ca"),
        private_key=tls.get("key"),
        certificate_chain=tls.get("cert"),
    )
    for step in steps:
        try:
            answer = {"value": CALLS[step["call"]](client, step)}
        except InferenceServerException as error:
            answer = error_of(error)
        print(json.dumps(answer), flush=True)
    client.close()


main()
