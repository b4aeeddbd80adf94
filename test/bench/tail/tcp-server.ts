import { type AddressInfo, createServer } from 'node:net';
import { readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { readInto } from '../../../sut-node/server/http2/onread-socket.ts';
import { FrameReader, REQUEST_HEAD_BYTES, RESPONSE_BYTES } from './tcp-frames.ts';

// Goal: the other end of tcp-client.ts: answers each message with its id and as many bytes as the
// responses of the other contenders have. A process of its own; tells its address to its parent.

/** Responses that are not sent yet keep their place: far fewer than these are under way. */
const RING_RESPONSES = 65_536;

const server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => {
  const ring = Buffer.alloc(RING_RESPONSES * RESPONSE_BYTES);
  let next = 0;
  let sent = 0;
  const send = (): void => {
    if (next > sent) socket.write(ring.subarray(sent * RESPONSE_BYTES, next * RESPONSE_BYTES));
    sent = next;
  };
  const reader = new FrameReader(
    REQUEST_HEAD_BYTES,
    (head) => head.readUInt32LE(4),
    (head) => {
      head.copy(ring, next * RESPONSE_BYTES, 0, 4);
      next += 1;
      if (next < RING_RESPONSES) return;
      send();
      next = 0;
      sent = 0;
    },
  );
  readInto(socket, (chunk) => {
    reader.read(readInPlace(chunk));
    send(); // What one read brought is answered by one write.
  });
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.resume();
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  process.send?.({ type: 'listening', address: `127.0.0.1:${port}` });
});
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());
