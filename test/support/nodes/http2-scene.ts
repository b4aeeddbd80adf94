import { onTestFinished } from 'vitest';
import type { ConnectionSettings } from '../../../qdl/oip/channel/oip-channel.ts';
import type { GrpcCallConnection } from '../../../qdl/oip/http2/grpc/grpc-calls.ts';
import { RawHttp2Peer } from './raw-http2-peer.ts';
import { connectTo, RecordedConnection } from './recorded-call.ts';

/** Our client and a peer that does what a test says. */
export interface Http2Scene {
  readonly peer: RawHttp2Peer;
  readonly connection: GrpcCallConnection;
  readonly events: RecordedConnection;
}

/**
 * Connects to a peer; both end with the running test.
 * @param peerSettings HTTP/2's, by their numbers.
 */
export async function http2Scene(
  peerSettings: Record<number, number> = {},
  own: Partial<ConnectionSettings> = {},
): Promise<Http2Scene> {
  const peer = await RawHttp2Peer.start(peerSettings);
  const events = new RecordedConnection();
  const connection = connectedTo(peer, own, events);
  await connection.ready;
  return { peer, connection, events };
}

/** A connection to a peer, ready or not; both end with the running test. */
export function connectedTo(
  peer: RawHttp2Peer,
  own: Partial<ConnectionSettings> = {},
  events: RecordedConnection = new RecordedConnection(),
): GrpcCallConnection {
  const connection = connectTo(peer.address, events, own);
  onTestFinished(async () => {
    await connection.close();
    await peer.stop();
  });
  return connection;
}
