import { createServer } from 'node:net';
import { Server, type ServerDuplexStream } from '@grpc/grpc-js';
import { RECEIVE_WINDOW_BYTES_DEFAULT } from '../../../shared/wire/protocol-versions.ts';
import { INFER_METHOD } from '../../../shared/wire/sut-contract.ts';
import { createWindowedInjector } from '../../../sut-node/server/connection/receive-window.ts';

// Goal: the other end of bare-sut.ts. A process of its own; tells its port to its parent.

const RESPONSE = Buffer.alloc(4);
const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.enable_channelz': 0 });
server.addService(
  { Infer: INFER_METHOD },
  {
    Infer: (call: ServerDuplexStream<Buffer, Buffer>) => {
      call.on('data', () => call.write(RESPONSE));
      call.on('end', () => call.end());
      call.on('error', () => {});
    },
  },
);
const { injector } = createWindowedInjector(
  server,
  { initialWindowSize: RECEIVE_WINDOW_BYTES_DEFAULT },
  {
    onRefused: (error) => {
      throw error;
    },
  },
);
const tcpServer = createServer((socket) => injector.injectConnection(socket));
tcpServer.listen(0, '127.0.0.1', () => {
  const address = tcpServer.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  process.send?.({ type: 'listening', address: `127.0.0.1:${address.port}` });
});
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());
