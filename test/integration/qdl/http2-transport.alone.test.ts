import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  Http2Transport,
  NativeConnections,
} from '../../../qdl/protocols/native/channel/http2-transport.ts';
import type { TransportEnd } from '../../../qdl/protocols/native/channel/part-transport.ts';
import { defaultDispatchSettings } from '../../../qdl/settings/dispatch-settings.ts';
import { ReusedBuffers } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { decodePart } from '../../../shared/wire/part-codec.ts';
import { SUT_SERVICE } from '../../../shared/wire/sut-contract.ts';

// Goal: an Infer stream over our HTTP/2 fits servers of others. Method: grpc-js's and node:http2's,
// in one process.

const MIB = 1024 * 1024;
let server: Server;
let address: string;
let connections: NativeConnections;
const received: Buffer[] = [];

beforeEach(async () => {
  received.length = 0;
  server = new Server({ 'grpc.max_receive_message_length': 8 * MIB });
  const never = (): void => {};
  server.addService(SUT_SERVICE, {
    ...{ Name: never, Describe: never, Ready: never, Ledger: never },
    Infer: (stream: ServerDuplexStream<Buffer, Buffer>) => {
      stream.on('data', (message: Buffer) => {
        received.push(message);
        stream.write(Buffer.from([received.length]));
        // A reader that is always behind: what is sent waits in the sockets, and behind them.
        stream.pause();
        setTimeout(() => stream.resume(), 5);
      });
      stream.on('end', () => stream.end());
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  address = `127.0.0.1:${port}`;
  connections = new NativeConnections(defaultDispatchSettings([address]), () => {});
});

afterEach(() => {
  connections.close();
  server.forceShutdown();
});

it('finds a node that compresses messages by gRPC itself', async () => {
  const node = createServer();
  node.on('stream', (stream: ServerHttp2Stream) => {
    const headers = { ':status': 200, 'content-type': 'application/grpc', 'grpc-encoding': 'gzip' };
    stream.respond(headers);
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  const { port } = node.address() as AddressInfo;
  const other = new NativeConnections(defaultDispatchSettings([`127.0.0.1:${port}`]), () => {});
  const end = await new Promise<TransportEnd>((resolve) => {
    const payloads = {
      encoding: { form: 'raw', compression: 'identity' },
      payloadOf: () => new Uint8Array(0),
    };
    const never = (): void => {};
    const events = {
      ...{ onAccepted: never, onMessage: never, onFramed: never, onWritten: never },
      onEnd: resolve,
    };
    const connection = other.to(`127.0.0.1:${port}`, 0);
    new Http2Transport(connection, payloads, events).sendControl(Buffer.from('open'));
  });
  expect(end).toMatchObject({ code: 9, details: /compresses messages by gRPC itself/ });
  other.close();
  node.close();
});

it('use a send buffer again only when the socket has its bytes', async () => {
  // Whatever is left in a buffer that came back is spoiled: too early, and the wire would show it.
  const giveBack = vi.spyOn(ReusedBuffers.prototype, 'giveBack').mockImplementation((buffer) => {
    new Uint8Array(buffer).fill(0xff);
  });
  const samples = [200_000, 0, 600_000, 3, 150_528].map((bytes, i) =>
    new Uint8Array(bytes).fill(i + 1),
  );
  const payloads = {
    encoding: { form: 'raw', compression: 'identity' },
    payloadOf: (index: number) => samples[index] as Uint8Array,
  };
  const count = 40;
  const partOf = (i: number) => {
    const sampleIndex = i % samples.length;
    const payload = payloads.payloadOf(sampleIndex);
    const one = [{ id: i + 1, payload, encoding: 0, offset: 0, total: 0, sampleIndex }];
    const { length: bytes } = payload;
    return { query: i, querySampleCount: 1, samples: one, sampleCount: 1, bytes };
  };
  await new Promise<void>((resolve, reject) => {
    const events = {
      onMessage: (message: Buffer) => {
        if (message[0] === 1) for (let i = 0; i < count; i += 1) transport.sendPart(partOf(i));
        if (message[0] === count + 1) resolve();
      },
      ...{ onAccepted: () => {}, onFramed: () => {}, onWritten: () => {} },
      onEnd: ({ details }: TransportEnd) => reject(new Error(details)),
    };
    const transport = new Http2Transport(connections.to(address, 0), payloads, events);
    transport.sendControl(Buffer.from('hello'));
  });
  const parts = received.slice(1).map((message) => decodePart(message).samples[0]);
  expect(parts.map((sample) => sample?.id)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  for (const [i, sample] of parts.entries()) {
    const sent = samples[i % samples.length] as Uint8Array;
    expect(Buffer.compare(Buffer.from(sample?.payload ?? []), sent)).toBe(0);
  }
  expect(giveBack.mock.calls.length).toBeGreaterThan(1);
  giveBack.mockRestore();
});
