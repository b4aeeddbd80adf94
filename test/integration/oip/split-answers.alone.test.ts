import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { FLAG, FRAME_TYPE } from '../../../shared/http2/frames.ts';
import { ECHO_MODEL, echoOf } from '../../scenes/oip-server/fake-oip-server.ts';
import {
  decodeRequest,
  encodeAnswer,
  encodeResponse,
} from '../../scenes/oip-server/oip-messages.ts';
import { oipPlan, openOipQdl } from '../../scenes/oip-server/oip-qdl.ts';
import {
  frame,
  grpcMessage,
  HEAD,
  Http2Link,
  listenTcp,
  type RawFrame,
  SETTING,
  settingsOf,
  word,
} from '../../scenes/oip-server/raw-http2-peer.ts';
import { queryOf } from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: answers are told apart whatever packets they come in: each call has its own answer and its
// own status. Method: a server whose heads and trailers are two or three bytes each, one behind the
// other or in packets of their own; every sample is compared with what the server did with it. Read
// buffers are overwritten (CONTRIBUTING.md): a view of one that was kept shows here.

/** How answers to ModelInfer go out; control calls are answered in one write. */
interface SplitAnswers {
  /**
   * Packets of an answer: `two` is head and data, trailers; `three` is one for each; `one` is all
   * together.
   */
  readonly packets: 'one' | 'two' | 'three';
  /** Bytes of a head once the headers are known; trailers have two. */
  readonly headBytes: 2 | 3;
  /** Every so many calls end with INTERNAL behind their answer; 0: none does. */
  readonly failEvery: number;
  /**
   * A message as large as this behind the answer's own contents, in an output that nobody asked
   * for.
   */
  readonly moreBytes?: number;
}

/** Time between two packets, so that the client reads them one by one. */
const GAP_MS = 2;

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
 * Starts a correct server of the Open Inference Protocol, frame by frame: its header blocks are as
 * short as those of grpc-go and of every server that indexes all of its headers, heads and trailers
 * of one length, in packets of their own.
 */
async function startSplitAnswers({ packets, headBytes, failEvery, moreBytes = 0 }: SplitAnswers) {
  /** First numbers of the inputs of the requests that ended with INTERNAL. */
  const seen = { address: '', inferCount: 0, failedInputs: [] as number[] };
  const head = headBytes === 2 ? HEAD : { ...HEAD, server: 'split' };

  async function infer(link: Http2Link, streamId: number, message: Buffer): Promise<void> {
    seen.inferCount += 1;
    const request = decodeRequest(message);
    const fails = failEvery > 0 && seen.inferCount % failEvery === 0;
    if (fails) seen.failedInputs.push(request.rawInputContents[0]?.readFloatLE(0) ?? Number.NaN);
    const response = echoOf(request);
    if (moreBytes > 0) {
      response.outputs?.push({ name: 'more', datatype: 'UINT8', shape: [moreBytes] });
      response.rawOutputContents?.push(Buffer.alloc(moreBytes, 7));
    }
    // In the order in which they go out: each block counts for the table of the client.
    const first = link.headers(streamId, head);
    const data = dataFrames(streamId, grpcMessage(encodeResponse(response)));
    const trailers = () => link.headers(streamId, fails ? INTERNAL : OK, true);
    if (packets === 'one') {
      link.write(Buffer.concat([first, data, trailers()]));
      return;
    }
    if (packets === 'two') {
      link.write(Buffer.concat([first, data]));
    } else {
      link.write(first);
      await sleep(GAP_MS);
      link.write(data);
    }
    await sleep(GAP_MS);
    link.write(trailers());
  }

  function answer(link: Http2Link, streamId: number, path: string, bytes: Buffer): void {
    const method = path.slice(path.lastIndexOf('/') + 1);
    const control = CONTROL[method];
    if (method === 'ModelInfer') void infer(link, streamId, bytes.subarray(5));
    else if (control === undefined) {
      link.write(link.headers(streamId, { ...HEAD, 'grpc-status': '12' }, true));
    } else {
      const parts = [link.headers(streamId, head)];
      parts.push(dataFrames(streamId, grpcMessage(encodeAnswer(method, control))));
      link.write(Buffer.concat([...parts, link.headers(streamId, OK, true)]));
    }
  }

  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    const open = new Map<number, OpenCall>();
    const link = new Http2Link(socket, (one) => {
      const { type, flags, streamId } = one;
      acknowledge(link, one);
      keep(link, open, one);
      const call = open.get(streamId);
      if ((flags & FLAG.endStream) === 0 || type > FRAME_TYPE.headers || call === undefined) return;
      open.delete(streamId);
      answer(link, streamId, call.path, call.bytes);
    });
    const settings = {
      [SETTING.maxConcurrentStreams]: 1_000,
      [SETTING.initialWindowSize]: WINDOW_MORE,
    };
    link.send(FRAME_TYPE.settings, 0, 0, settingsOf(settings));
    link.send(FRAME_TYPE.windowUpdate, 0, 0, word(WINDOW_MORE));
  });
  seen.address = await listenTcp(server);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return seen;
}

interface OpenCall {
  readonly path: string;
  bytes: Buffer;
}

/** Answers SETTINGS and PING. */
function acknowledge(link: Http2Link, { type, flags, payload }: RawFrame): void {
  if ((flags & FLAG.ack) !== 0) return;
  if (type === FRAME_TYPE.settings) link.send(type, FLAG.ack, 0);
  else if (type === FRAME_TYPE.ping) link.send(type, FLAG.ack, 0, payload);
}

/** Keeps what a frame says of its call. */
function keep(link: Http2Link, open: Map<number, OpenCall>, one: RawFrame): void {
  const { type, streamId, payload } = one;
  const call = open.get(streamId);
  if (type === FRAME_TYPE.headers) {
    open.set(streamId, { path: link.headersOf(one)[':path'] ?? '', bytes: Buffer.alloc(0) });
  } else if (type === FRAME_TYPE.data && call !== undefined) {
    call.bytes = Buffer.concat([call.bytes, payload]);
    if (payload.length > 0) link.send(FRAME_TYPE.windowUpdate, 0, 0, word(payload.length));
  } else if (type === FRAME_TYPE.rstStream) open.delete(streamId);
}

/** DATA in frames of HTTP/2's default size. */
function dataFrames(streamId: number, bytes: Buffer): Buffer {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 16_384) {
    frames.push(frame(FRAME_TYPE.data, 0, streamId, bytes.subarray(at, at + 16_384)));
  }
  return Buffer.concat(frames);
}

const QUERIES = 120;
/** Calls at once. */
const WIDTH = 6;

const CASES: readonly SplitAnswers[] = (['one', 'two', 'three'] as const).flatMap((packets) =>
  ([2, 3] as const).flatMap((headBytes) =>
    [0, 2, 3].map((failEvery) => ({ packets, headBytes, failEvery })),
  ),
);

it.each<SplitAnswers>([
  ...CASES,
  // More than a read takes: the trailers come when the buffer was read into again.
  { packets: 'two', headBytes: 2, failEvery: 2, moreBytes: 300_000 },
])('tells answers of %o apart', async (answers) => {
  const server = await startSplitAnswers(answers);
  const { qdl, sink } = await openOipQdl([server], oipPlan('unary'));
  onTestFinished(() => qdl.stop());
  for (let begin = 0; begin < QUERIES; begin += WIDTH) {
    for (let id = begin; id < begin + WIDTH; id += 1) qdl.issueQuery(queryOf(id, id, [id]));
    await sink.answered(begin + WIDTH);
  }
  const failed = sink.failed.map(({ id }) => id);
  const completed = sink.completed.map(({ id, payload }) => [id, ...floats(payload)]);
  expect(failed.toSorted((a, b) => a - b)).toEqual(server.failedInputs.toSorted((a, b) => a - b));
  expect(server.inferCount).toBe(QUERIES);
  expect(failed.length + completed.length).toBe(QUERIES);
  for (const { failure } of sink.failed) {
    expect(failure).toMatchObject({ code: 'inference', text: expect.stringContaining('broken') });
  }
  for (const [id = 0, index, square] of completed) {
    expect([index, square]).toEqual([id, id * id]);
  }
});

function floats(payload: Uint8Array): number[] {
  return [...new Float32Array(payload.slice().buffer)];
}
