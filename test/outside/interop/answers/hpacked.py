"""The server of server.go frame by frame, with header blocks by python-hpack: the same options, the same output."""

import socket
import struct
import threading
import time

from fields import OPTIONS, SERVICE, infer, listening
from hpack import Decoder, Encoder

DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 4, 6, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
PREFACE_BYTES = 24
HEAD = [(":status", "200"), ("content-type", "application/grpc")]


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def message(contents):
    return b"\0" + struct.pack(">I", len(contents)) + contents


class Connection:
    def __init__(self, sock):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self.lock = threading.Lock()
        self.encoder = Encoder()
        self.decoder = Decoder()
        self.calls = {}

    def headers(self, stream, fields, flags=0):
        return frame(HEADERS, END_HEADERS | flags, stream, self.encoder.encode(fields))

    def trailers(self, stream, status, text):
        return self.headers(stream, [("grpc-status", status), ("grpc-message", text)], END_STREAM)

    def answer(self, stream, path, request):
        name = path[len(SERVICE) :]
        if name == "ModelInfer":
            threading.Thread(target=self.infer, args=(stream, request), daemon=True).start()
        elif name in OPTIONS["control"]:
            contents = message(bytes.fromhex(OPTIONS["control"][name]))
            with self.lock:
                head = self.headers(stream, HEAD) + frame(DATA, 0, stream, contents)
                self.sock.sendall(head + self.trailers(stream, "0", ""))
        else:
            with self.lock:
                self.sock.sendall(self.headers(stream, [*HEAD, ("grpc-status", "12")], END_STREAM))

    def infer(self, stream, request):
        answer, fails = infer(request)
        with self.lock:
            self.sock.sendall(self.headers(stream, HEAD) + frame(DATA, 0, stream, message(answer)))
        time.sleep(OPTIONS["gapMs"] / 1000)
        with self.lock:
            end = ("13", "broken") if fails else ("0", "")
            self.sock.sendall(self.trailers(stream, *end))

    def on_frame(self, kind, flags, stream, payload):
        if kind in (SETTINGS, PING) and not flags & ACK:
            with self.lock:
                self.sock.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
        elif kind == HEADERS:
            self.calls[stream] = [dict(self.decoder.decode(payload))[":path"], b""]
        elif kind == DATA and stream in self.calls:
            self.calls[stream][1] += payload
            if payload:
                with self.lock:
                    self.sock.sendall(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", len(payload))))
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            path, contents = self.calls.pop(stream)
            self.answer(stream, path, contents[5:])

    def serve(self):
        self.sock.sendall(frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 1000)))
        received = b""
        while len(received) < PREFACE_BYTES:
            received += self.sock.recv(65536)
        received = received[PREFACE_BYTES:]
        while True:
            while len(received) >= 9 and len(received) >= 9 + int.from_bytes(received[:3], "big"):
                end = 9 + int.from_bytes(received[:3], "big")
                stream = struct.unpack(">I", received[5:9])[0]
                self.on_frame(received[3], received[4], stream, received[9:end])
                received = received[end:]
            more = self.sock.recv(262144)
            if not more:
                return
            received += more


def serve(sock):
    try:
        Connection(sock).serve()
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", 0))
listening(listener.getsockname()[1])
while True:
    accepted, _ = listener.accept()
    threading.Thread(target=serve, args=(accepted,), daemon=True).start()
