import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
} from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { connectionOptions } from '../../../qdl/connect/unary-calls.ts';
import {
  FramedBytes,
  framesSize,
  passFramedBytes,
  writeFrames,
} from '../../../qdl/native/channel/framed-bytes.ts';
import { GrpcTransport } from '../../../qdl/native/channel/grpc-transport.ts';
import type { TransportEnd } from '../../../qdl/native/channel/sut-channel.ts';
import { defaultDispatchSettings } from '../../../qdl/settings/dispatch-settings.ts';
import { ReusedBuffers } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { decodePart, encodePart, type WirePart } from '../../../shared/wire/part-codec.ts';
import { INFER_METHOD, SUT_SERVICE } from '../../../shared/wire/sut-contract.ts';
import {
  MessagePieces,
  receiveInPieces,
} from '../../../sut-node/server/connection/message-pieces.ts';

// Goal: the two places where the wire reaches into grpc-js fit the grpc-js that is installed: a release
// that looks otherwise is found here, not by a benchmark. Method: a real call in one process.

const MIB = 1024 * 1024;
let server: Server;
let client: Client;
const received: (Buffer | MessagePieces)[] = [];
let isInPieces: boolean | undefined;
let isSlow = false;

beforeEach(async () => {
  received.length = 0;
  isSlow = false;
  server = new Server({ 'grpc.max_receive_message_length': 8 * MIB });
  const never = (): void => {};
  server.addService(SUT_SERVICE, {
    ...{ Name: never, Describe: never, Ready: never, Ledger: never },
    Infer: (stream: ServerDuplexStream<Buffer, Buffer>) => {
      isInPieces = receiveInPieces(stream, 8 * MIB, ({ code, details }) => {
        stream.emit('error', { code, details });
      });
      stream.on('data', (message: Buffer | MessagePieces) => {
        received.push(message);
        stream.write(Buffer.from([received.length]));
        if (!isSlow) return;
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
  const options = connectionOptions(defaultDispatchSettings([`127.0.0.1:${port}`]));
  client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
});

afterEach(() => {
  client.close();
  server.forceShutdown();
});

function part(bytes: number, query: number): WirePart {
  const payload = new Uint8Array(bytes).fill(query + 1);
  return {
    query,
    querySampleCount: 1,
    samples: [{ id: query, payload, encoding: 0, offset: 0, total: 0 }],
  };
}

it('finds a node that compresses messages by gRPC itself', async () => {
  const node = createServer();
  node.on('stream', (stream: ServerHttp2Stream) => {
    const headers = { ':status': 200, 'content-type': 'application/grpc', 'grpc-encoding': 'gzip' };
    stream.respond(headers);
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  const { port } = node.address() as AddressInfo;
  const other = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const end = await new Promise<TransportEnd>((resolve) => {
    const payloads = {
      encoding: { form: 'raw', compression: 'identity' },
      payloadOf: () => new Uint8Array(0),
    };
    const never = (): void => {};
    const events = {
      ...{ onUncompressed: never, onAccepted: never, onMessage: never, onWritten: never },
      onEnd: resolve,
    };
    new GrpcTransport({ client: other, metadata: new Metadata() }, payloads, events).sendControl(
      Buffer.from('open'),
    );
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
  isSlow = true;
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
      onUncompressed: () => {},
      onAccepted: () => {},
      onWritten: () => {},
      onEnd: ({ details }: TransportEnd) => reject(new Error(details)),
    };
    const transport = new GrpcTransport({ client, metadata: new Metadata() }, payloads, events);
    transport.sendControl(Buffer.from('hello'));
  });
  const parts = received.slice(1).map((message) => {
    const bytes = message instanceof MessagePieces ? message.join() : message;
    return decodePart(bytes).samples[0];
  });
  expect(parts.map((sample) => sample?.id)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  for (const [i, sample] of parts.entries()) {
    const sent = samples[i % samples.length] as Uint8Array;
    expect(Buffer.compare(Buffer.from(sample?.payload ?? []), sent)).toBe(0);
  }
  expect(giveBack.mock.calls.length).toBeGreaterThan(1);
  giveBack.mockRestore();
});

it('fit the installed grpc-js: frames pass uncopied, large messages arrive in pieces', async () => {
  const parts = [part(10, 0), part(200_000, 1), part(3 * MIB, 2)];
  let passes: boolean | undefined;
  const call = client
    .getChannel()
    .createCall(INFER_METHOD.path, Number.POSITIVE_INFINITY, null, null, null);
  const answered = new Promise<void>((resolve, reject) => {
    call.start(new Metadata(), {
      onReceiveMetadata: () => {
        passes = passFramedBytes(call);
        const buffer = Buffer.alloc(framesSize(parts));
        writeFrames(parts, buffer);
        call.sendMessageWithContext({}, new FramedBytes(buffer) as unknown as Buffer);
      },
      onReceiveMessage: (message: Buffer) => {
        if (message[0] === 4) resolve();
        call.startRead();
      },
      onReceiveStatus: ({ details }) => reject(new Error(details)),
    });
  });
  call.startRead();
  call.sendMessageWithContext({}, Buffer.from('hello'));
  await answered;
  call.cancelWithStatus(1, 'the test is over');
  expect({ passes, isInPieces }).toEqual({ passes: true, isInPieces: true });
  const messages = received.map((message) =>
    message instanceof MessagePieces ? message : new MessagePieces([message], message.length),
  );
  expect(messages[0]?.join().toString()).toBe('hello');
  expect(messages[3]?.pieces.length).toBeGreaterThan(1);
  for (const [i, sent] of parts.entries()) {
    expect(messages[i + 1]?.join().equals(encodePart(sent))).toBe(true);
  }
});
