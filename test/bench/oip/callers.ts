import { type ClientHttp2Session, connect } from 'node:http2';
import { Client, credentials } from '@grpc/grpc-js';
import { connectGrpc } from '../../../qdl/http2/connect-grpc.ts';
import { defaultDispatchSettings } from '../../../qdl/index.ts';
import { bytesFieldSize, ProtoWriter } from '../../../shared/wire/proto-wire.ts';
import type { MakeCaller } from './unary-loop.ts';

/** Method of the C++ peer (test/bench/cpp/echo.proto). */
const PATH = '/longhaul.bench.Echo/Unary';

/** gRPC's head: not compressed, and the length. */
const HEAD_BYTES = 5;

/** Field 1, bytes. */
const PAYLOAD_TAG = 0x0a;

/** Ways of Node to make unary calls. */
export type CallerKind = 'longhaul' | 'http2' | 'grpc-js';

/** Messages of `Payload`, each with gRPC's head before it. */
function framedMessages(sizeBytes: number, sampleCount: number): Buffer[] {
  return Array.from({ length: sampleCount }, (_, i) => {
    const messageBytes = bytesFieldSize(sizeBytes);
    const framed = Buffer.alloc(HEAD_BYTES + messageBytes);
    framed.writeUInt32BE(messageBytes, 1);
    new ProtoWriter(framed, HEAD_BYTES).bytes(PAYLOAD_TAG, Buffer.alloc(sizeBytes, i));
    return framed;
  });
}

/**
 * Connects and says how calls are made; they are spread evenly over the connections.
 * @param address Of the C++ peer.
 */
export async function connectCallers(
  kind: CallerKind,
  address: string,
  connections: number,
  { sizeBytes, sampleCount }: { readonly sizeBytes: number; readonly sampleCount: number },
): Promise<MakeCaller> {
  const framed = framedMessages(sizeBytes, sampleCount);
  if (kind === 'http2') return await http2Callers(address, connections, framed);
  const bare = framed.map((message) => message.subarray(HEAD_BYTES));
  if (kind === 'grpc-js') return grpcCallers(address, connections, bare);
  return await ownCallers(address, connections, bare);
}

async function ownCallers(
  address: string,
  count: number,
  messages: readonly Buffer[],
): Promise<MakeCaller> {
  const connections = Array.from({ length: count }, () =>
    connectGrpc(address, defaultDispatchSettings([address]), {
      onWritten: () => {},
      onAccepted: () => {},
      onClosed: (reason) => {
        throw new Error(reason);
      },
    }),
  );
  await Promise.all(connections.map(({ ready }) => ready));
  return (number, completed, failed) => {
    const connection = connections[number % count] as (typeof connections)[number];
    const events = {
      onMessage: () => {},
      onEnd: (_call: unknown, code: number, details: string) => {
        if (code === 0) completed();
        else failed(new Error(`${code} ${details}`));
      },
    };
    return (payload) => {
      const message = messages[payload] as Buffer;
      const call = connection.call(PATH, events, 'one');
      call.write([message], message.length);
      call.end();
    };
  };
}

async function http2Callers(
  address: string,
  count: number,
  messages: readonly Buffer[],
): Promise<MakeCaller> {
  const sessions = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ClientHttp2Session>((resolve) => {
          const session = connect(`http://${address}`, {
            settings: { initialWindowSize: 16 * 1024 * 1024 },
            // MB; its 10 are too few for 64 calls of 602 KB.
            maxSessionMemory: 1000,
          });
          session.once('remoteSettings', () => resolve(session));
        }),
    ),
  );
  const headers = {
    ':method': 'POST',
    ':path': PATH,
    te: 'trailers',
    'content-type': 'application/grpc',
  };
  return (number, completed, failed) => {
    const session = sessions[number % count] as ClientHttp2Session;
    return (payload) => {
      const stream = session.request(headers);
      let status: unknown;
      stream.on('trailers', (trailers) => {
        status = trailers['grpc-status'];
      });
      stream.on('data', () => {});
      stream.on('end', () => {
        if (status === '0') completed();
        else failed(new Error(`status ${String(status)}`));
      });
      stream.on('error', failed);
      stream.end(messages[payload]);
    };
  };
}

function grpcCallers(address: string, count: number, messages: readonly Buffer[]): MakeCaller {
  const asIs = (bytes: Buffer): Buffer => bytes;
  const clients = Array.from(
    { length: count },
    () =>
      new Client(address, credentials.createInsecure(), {
        'grpc.use_local_subchannel_pool': 1,
        'grpc.max_receive_message_length': -1,
        'grpc.max_send_message_length': -1,
        'grpc.enable_retries': 0,
      }),
  );
  return (number, completed, failed) => {
    const client = clients[number % count] as Client;
    const answered = (error: Error | null): void => {
      if (error === null) completed();
      else failed(error);
    };
    return (payload) => {
      client.makeUnaryRequest(PATH, asIs, asIs, messages[payload] as Buffer, answered);
    };
  };
}
