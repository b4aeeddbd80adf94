import { createServer, type Server, type Socket } from 'node:net';
import {
  FLAG,
  FRAME_HEAD_BYTES,
  FRAME_TYPE,
  PREFACE,
} from '../../../qdl/oip/http2/frames/frames.ts';
import { HpackDecoder, HpackEncoder } from '../../../qdl/oip/http2/hpack/hpack.ts';
import { ECHO_MODEL, echoOf } from './fake-oip-server.ts';
import { decodeRequest, encodeAnswer, encodeResponse } from './oip-messages.ts';
import { frame, grpcMessage, settingsOf, word } from './raw-http2-peer.ts';

/** How answers to ModelInfer go out; control calls are answered in one write. */
export interface SplitAnswers {
  /** Packets of an answer: `two` is head and data, trailers; `three` is one for each; `one` is all together. */
  readonly packets: 'one' | 'two' | 'three';
  /** Bytes of a head once the headers are known; trailers have two. */
  readonly headBytes: 2 | 3;
  /** Every so many calls end with INTERNAL behind their answer; 0: none does. */
  readonly failEvery: number;
  /** A message as large as this behind the answer's own contents, in an output that nobody asked for. */
  readonly moreBytes?: number;
}

/** Time between two packets, so that the client reads them one by one. */
const GAP_MS = 2;

const MAX_CONCURRENT_STREAMS = 3;
const INITIAL_WINDOW_SIZE = 4;
const WINDOW_MORE = 2 ** 30;

const OK = { 'grpc-status': '0', 'grpc-message': '' };
const INTERNAL = { 'grpc-status': '13', 'grpc-message': 'broken' };

/** Answers of the methods that are asked before a run; of others there is none. */
const CONTROL: Readonly<Record<string, object>> = {
  ServerLive: { live: true },
  ServerReady: { ready: true },
  ServerMetadata: { name: 'split', version: '1' },
  ModelReady: { ready: true },
  ModelMetadata: ECHO_MODEL,
};

/**
 * A correct server of the Open Inference Protocol, frame by frame: its header blocks are as short as those of grpc-go and of
 * every server that indexes all of its headers, heads and trailers of one length, in packets of their own.
 */
export class SplitAnswerServer {
  address = '';
  /** First numbers of the inputs of the requests that ended with INTERNAL. */
  readonly failedInputs: number[] = [];
  inferCount = 0;
  readonly answers: SplitAnswers;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(answers: SplitAnswers) {
    this.answers = answers;
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      new Connection(socket, this);
    });
  }

  static async start(answers: SplitAnswers): Promise<SplitAnswerServer> {
    const server = new SplitAnswerServer(answers);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    const address = server.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    server.address = `127.0.0.1:${address.port}`;
    return server;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** One connection of the server. */
class Connection {
  readonly #socket: Socket;
  readonly #server: SplitAnswerServer;
  readonly #encoder = new HpackEncoder();
  readonly #decoder = new HpackDecoder(4096, 65_536);
  readonly #open = new Map<number, { readonly path: string; bytes: Buffer }>();
  #bytes: Buffer = Buffer.alloc(0);
  #skipped = PREFACE.length;

  constructor(socket: Socket, server: SplitAnswerServer) {
    this.#socket = socket;
    this.#server = server;
    const settings = { [MAX_CONCURRENT_STREAMS]: 1_000, [INITIAL_WINDOW_SIZE]: WINDOW_MORE };
    socket.write(frame(FRAME_TYPE.settings, 0, 0, settingsOf(settings)));
    socket.write(frame(FRAME_TYPE.windowUpdate, 0, 0, word(WINDOW_MORE)));
    socket.on('data', (bytes) => this.#read(bytes));
  }

  #read(bytes: Buffer): void {
    const skipped = Math.min(this.#skipped, bytes.length);
    this.#skipped -= skipped;
    this.#bytes = Buffer.concat([this.#bytes, bytes.subarray(skipped)]);
    while (this.#bytes.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + this.#bytes.readUIntBE(0, 3);
      if (this.#bytes.length < end) return;
      const [type, flags] = [this.#bytes[3] as number, this.#bytes[4] as number];
      const streamId = this.#bytes.readUInt32BE(5);
      this.#onFrame(type, flags, streamId, this.#bytes.subarray(FRAME_HEAD_BYTES, end));
      this.#bytes = this.#bytes.subarray(end);
    }
  }

  #onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    const isAck = (flags & FLAG.ack) !== 0;
    if (type === FRAME_TYPE.settings && !isAck) {
      this.#socket.write(frame(FRAME_TYPE.settings, FLAG.ack, 0));
    } else if (type === FRAME_TYPE.ping && !isAck) {
      this.#socket.write(frame(FRAME_TYPE.ping, FLAG.ack, 0, payload));
    } else if (type === FRAME_TYPE.headers) {
      const fields = this.#decoder.decode(payload);
      const path = fields.find(({ name }) => name === ':path')?.value ?? '';
      this.#open.set(streamId, { path, bytes: Buffer.alloc(0) });
    } else if (type === FRAME_TYPE.data) {
      const call = this.#open.get(streamId);
      if (call === undefined) return;
      call.bytes = Buffer.concat([call.bytes, payload]);
      if (payload.length > 0) {
        this.#socket.write(frame(FRAME_TYPE.windowUpdate, 0, 0, word(payload.length)));
      }
    } else if (type === FRAME_TYPE.rstStream) {
      this.#open.delete(streamId);
    }
    if ((flags & FLAG.endStream) !== 0 && type <= FRAME_TYPE.headers) this.#answer(streamId);
  }

  #answer(streamId: number): void {
    const { path, bytes } = this.#open.get(streamId) ?? { path: '', bytes: Buffer.alloc(0) };
    this.#open.delete(streamId);
    const method = path.slice(path.lastIndexOf('/') + 1);
    if (method === 'ModelInfer') {
      void this.#infer(streamId, bytes.subarray(5));
      return;
    }
    const answer = CONTROL[method];
    if (answer === undefined) {
      const refusal = { ':status': '200', 'content-type': 'application/grpc', 'grpc-status': '12' };
      this.#socket.write(this.#headers(streamId, refusal, true));
      return;
    }
    const message = grpcMessage(encodeAnswer(method, answer));
    const head = this.#headers(streamId, this.#head);
    const data = frame(FRAME_TYPE.data, 0, streamId, message);
    this.#socket.write(Buffer.concat([head, data, this.#headers(streamId, OK, true)]));
  }

  async #infer(streamId: number, message: Buffer): Promise<void> {
    const server = this.#server;
    const { packets, failEvery, moreBytes = 0 } = server.answers;
    server.inferCount += 1;
    const request = decodeRequest(message);
    const fails = failEvery > 0 && server.inferCount % failEvery === 0;
    if (fails) server.failedInputs.push(request.rawInputContents[0]?.readFloatLE(0) ?? Number.NaN);
    const response = echoOf(request);
    if (moreBytes > 0) {
      response.outputs?.push({ name: 'more', datatype: 'UINT8', shape: [moreBytes] });
      response.rawOutputContents?.push(Buffer.alloc(moreBytes, 7));
    }
    // In the order in which they go out: each block counts for the table of the client.
    const head = this.#headers(streamId, this.#head);
    const data = this.#data(streamId, grpcMessage(encodeResponse(response)));
    if (packets === 'one') {
      const trailers = this.#headers(streamId, fails ? INTERNAL : OK, true);
      this.#socket.write(Buffer.concat([head, data, trailers]));
      return;
    }
    if (packets === 'two') {
      this.#socket.write(Buffer.concat([head, data]));
    } else {
      this.#socket.write(head);
      await gap();
      this.#socket.write(data);
    }
    await gap();
    this.#socket.write(this.#headers(streamId, fails ? INTERNAL : OK, true));
  }

  get #head(): Record<string, string> {
    const head = { ':status': '200', 'content-type': 'application/grpc' };
    return this.#server.answers.headBytes === 2 ? head : { ...head, server: 'split' };
  }

  #headers(streamId: number, headers: Readonly<Record<string, string>>, isEnd = false): Buffer {
    const fields = Object.entries(headers).map(([name, value]) => ({ name, value }));
    const flags = FLAG.endHeaders | (isEnd ? FLAG.endStream : 0);
    return frame(FRAME_TYPE.headers, flags, streamId, this.#encoder.encode(fields));
  }

  /** DATA in frames of HTTP/2's default size. */
  #data(streamId: number, bytes: Buffer): Buffer {
    const frames: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 16_384) {
      frames.push(frame(FRAME_TYPE.data, 0, streamId, bytes.subarray(at, at + 16_384)));
    }
    return Buffer.concat(frames);
  }
}

function gap(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, GAP_MS));
}
