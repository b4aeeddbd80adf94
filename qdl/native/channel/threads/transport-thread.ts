import assert from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import { status } from '@grpc/grpc-js';
import { messageOf } from '../../../../shared/base/errors/mlperf-error.ts';
import { GrpcConnections, GrpcTransport } from '../grpc-transport.ts';
import type { TransportEvents } from '../sut-channel.ts';
import {
  type FromThread,
  SharedReader,
  type ThreadStart,
  type ToThread,
  unpackParts,
} from './transport-threads.ts';

// A thread that does the gRPC work of some streams. Started by TransportThreads.

const port = parentPort;
assert(port !== null);
const start = workerData as ThreadStart;
const payloads = new SharedReader(start);
const connections = new GrpcConnections(start.settings);
const transports = new Map<number, GrpcTransport>();

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'slab':
      payloads.addSlab(message.slab);
      break;
    case 'open':
      open(message);
      break;
    case 'parts':
      unpackParts(message.numbers, payloads, (stream, part) =>
        transports.get(stream)?.sendPart(part),
      );
      break;
    case 'control':
      // A view of the copy that came with the message.
      transports.get(message.stream)?.sendControl(Buffer.from(message.message.buffer));
      break;
    case 'dropParts':
      drop(message.stream);
      break;
    case 'stop':
      connections.close();
      port.close();
      break;
    default:
      transports.get(message.stream)?.[message.kind]();
  }
});

function open({ stream, address, connection }: Extract<ToThread, { kind: 'open' }>): void {
  const events: TransportEvents = {
    onMessage: (message) => {
      // Its own memory: the buffer may be a view into one that grpc-js shares among messages.
      const copy = Uint8Array.from(message);
      tell({ stream, event: 'onMessage', value: copy as Buffer }, [copy.buffer]);
    },
    onUncompressed: () => tell({ stream, event: 'onUncompressed', value: undefined }),
    onAccepted: (value) => tell({ stream, event: 'onAccepted', value }),
    onWritten: (value) => tell({ stream, event: 'onWritten', value }),
    onEnd: (value) => {
      transports.delete(stream);
      tell({ stream, event: 'onEnd', value });
    },
  };
  try {
    const client = connections.to(address, connection);
    transports.set(stream, new GrpcTransport(client, payloads, events));
  } catch (error) {
    const value = { code: status.INTERNAL, details: messageOf(error) };
    tell({ stream, event: 'onEnd', value });
  }
}

/** Drops the parts of a stream that wait; they make room as written ones do. */
function drop(stream: number): void {
  for (const { bytes } of transports.get(stream)?.dropParts() ?? []) {
    tell({ stream, event: 'onWritten', value: bytes });
  }
}

function tell(message: FromThread, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer);
}
