import http2, { type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UnreadAnswers } from '../../../../../sut-node/server/guard/request-bytes.ts';

// Goal: an answer that nobody takes is given up, and one that is taken is left alone. Method:
// node:http2 on both ends.

async function serve(answers: UnreadAnswers): Promise<Http2Server> {
  const server = http2.createServer();
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200 });
    stream.end(Buffer.alloc(50_000));
    answers.add(stream);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return server;
}

/** Bytes that came, and how it ended. */
async function ask(server: Http2Server, initialWindowSize: number): Promise<[number, number]> {
  const { port } = server.address() as AddressInfo;
  const session = http2.connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize } });
  onTestFinished(() => session.destroy());
  const stream = session.request();
  stream.on('error', () => {});
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await new Promise((resolve) => stream.once('close', resolve));
  return [bytes, stream.rstCode ?? Number.NaN];
}

describe('UnreadAnswers', () => {
  it('resets the call of a peer that does not take its answer in time, and no other', async () => {
    const answers = new UnreadAnswers(1_000_000, 100);
    const server = await serve(answers);
    const outcomes = await Promise.all([ask(server, 65_535), ask(server, 0)]);
    expect(outcomes).toEqual([
      [50_000, http2.constants.NGHTTP2_NO_ERROR],
      [0, http2.constants.NGHTTP2_CANCEL],
    ]);
    expect(answers.bytes).toBe(0);
  });

  it('gives up those that wait longest where there are too many bytes', async () => {
    const answers = new UnreadAnswers(120_000, 60_000);
    const server = await serve(answers);
    const stalled = [1, 2, 3].map(() => ask(server, 0));
    expect(await Promise.race(stalled)).toEqual([0, http2.constants.NGHTTP2_CANCEL]);
    expect(answers.bytes).toBe(100_000);
  });
});
