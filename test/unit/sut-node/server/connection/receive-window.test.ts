import http2 from 'node:http2';
import { Server } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { createWindowedInjector } from '../../../../../sut-node/server/connection/receive-window.ts';

const EVENTS = { onRefused: () => {} };

// Goal: only our own server gets other windows. Method: look at node:http2 before and after; that
// the windows are in force is seen in test/integration/sut-node/sut-node.test.ts.
describe('createWindowedInjector', () => {
  it('leaves node:http2 as it was', () => {
    const { createServer } = http2;
    createWindowedInjector(new Server(), { initialWindowSize: 1 << 20 }, EVENTS);
    expect(http2.createServer).toBe(createServer);
  });

  it('leaves node:http2 as it was also when grpc-js refuses', () => {
    const { createServer } = http2;
    const serverThatRefuses = new Server();
    serverThatRefuses.createConnectionInjector = () => {
      throw new TypeError('refused');
    };
    expect(() =>
      createWindowedInjector(serverThatRefuses, { initialWindowSize: 1 << 20 }, EVENTS),
    ).toThrow();
    expect(http2.createServer).toBe(createServer);
  });

  it('tells the windows that were requested until a session shows others', () => {
    const { windows } = createWindowedInjector(
      new Server(),
      { initialWindowSize: 1 << 20 },
      EVENTS,
    );
    expect(windows()).toEqual({ stream: 1 << 20, connection: 1 << 20 });
  });
});
