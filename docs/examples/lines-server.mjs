// @ts-check
// A server for lines-protocol.mjs: it tells its name, and sends each sample back.
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const [name = 'lines', port = '7000'] = process.argv.slice(2);

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => {});
  const lines = createInterface({ input: socket });
  lines.on('error', () => {}); // The socket's, once more.
  lines.on('line', (line) => {
    const { id, payload } = JSON.parse(line);
    const answer = id === undefined ? { name } : { id, payload };
    socket.write(`${JSON.stringify(answer)}\n`);
  });
});
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  console.error(`listening, port ${typeof address === 'object' ? address?.port : ''}`);
});
