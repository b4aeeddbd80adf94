import type { ServerDuplexStream } from '@grpc/grpc-js';
import { type MessagePieces, receiveInPieces } from '../connection/message-pieces.ts';
import { callerOf, seenOf } from '../guard/call-seen.ts';
import type { InferPeer, InferServices } from './infer-stream.ts';
import type { InferStreams } from './infer-streams.ts';

type InferCall = ServerDuplexStream<Buffer, Buffer>;

/**
 * Joins a gRPC call with a stream of its own.
 * @param services Undefined while the node does not serve; `why` says so to the peer.
 */
export function serveInferCall(
  call: InferCall,
  streams: InferStreams,
  services: InferServices | undefined,
  why: string,
): void {
  // Once the peer is gone gRPC does not know any more who it was.
  const stream = streams.open(peerOf(call), callerOf(call), services, why);
  if (stream === undefined || services === undefined) return;
  receiveInPieces(call, services.limits.receiveBytesMax, (end) => stream.breakOff(end));
  call.on('data', (message: Buffer | MessagePieces) => stream.message(message));
  call.on('end', () => stream.halfClosed());
  call.on('drain', () => stream.drained());
  call.on('cancelled', () => stream.cancelled());
}

function peerOf(call: InferCall): InferPeer {
  return {
    seen: seenOf(call.metadata),
    write: (message) => call.write(message),
    end: (end) => {
      if (end.code === 0) call.end();
      // grpc-js ends a stream with a status by this event, behind what was written.
      else call.emit('error', end);
    },
  };
}
