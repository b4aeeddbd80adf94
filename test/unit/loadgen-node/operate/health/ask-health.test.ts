import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { askHealth } from '../../../../../loadgen-node/operate/health/ask-health.ts';

// Goal: whatever a server answers, a probe says it in one line that begins with its address.

/** A server that answers every call with these bytes and trailers. */
async function serverOf(body: Buffer, trailers: http2.OutgoingHttpHeaders): Promise<string> {
  const server = http2.createServer();
  server.on('stream', (stream) => {
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ask = (address: string) => {
  const security = { tls: false } as Parameters<typeof askHealth>[1]['security'];
  return askHealth(address, { service: '', timeoutMs: 5_000, security });
};

it.each([
  [
    'a text of two lines',
    '',
    { 'grpc-status': '13', 'grpc-message': 'one%0Atwo' },
    /one\ufffdtwo$/,
  ],
  ['no message', '', { 'grpc-status': '0' }, /answers Check with a reply that is cut off$/],
  ['a head alone', '0000000002', { 'grpc-status': '0' }, /a reply that is cut off$/],
  ['half a message', '000000000208', { 'grpc-status': '0' }, /a reply that is cut off$/],
  [
    'half a field',
    '000000000108',
    { 'grpc-status': '0' },
    /sent an invalid reply to Check: malformed message/,
  ],
])('an answer with %s is told in one line with the address', async (_, hex, trailers, said) => {
  const address = await serverOf(Buffer.from(hex, 'hex'), trailers);
  const error = await ask(address).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'ERR_SUT_REFUSED', message: expect.stringMatching(said) });
  const { message } = error as Error;
  expect(message.startsWith(`${address} `)).toBe(true);
  expect(message).not.toContain('\n');
});

it('a whole answer is a state', async () => {
  const address = await serverOf(Buffer.from('00000000020801', 'hex'), { 'grpc-status': '0' });
  expect(await ask(address)).toMatchObject({ address, state: 'SERVING' });
});
