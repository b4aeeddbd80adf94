import { type AddressInfo, createServer } from 'node:net';

// Goal: the other end of tcp-sut.ts: `tcp-server.js HOST PAYLOAD_BYTES` answers each payload with
// four bytes. A process of its own; tells its address to its parent.

const RESPONSE = Buffer.alloc(4);
const [host, sizeText] = process.argv.slice(2) as [string, string];
const sizeBytes = Number(sizeText);
const server = createServer({ noDelay: true }, (socket) => {
  let receivedBytes = 0;
  socket.on('data', (bytes) => {
    receivedBytes += bytes.length;
    for (; receivedBytes >= sizeBytes; receivedBytes -= sizeBytes) socket.write(RESPONSE);
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, host, () => {
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  process.send?.({ type: 'listening', address: `${host}:${port}` });
});
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());
