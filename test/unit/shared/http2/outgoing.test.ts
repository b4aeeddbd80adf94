import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { RequestHeads } from '../../../../qdl/http2/grpc-calls.ts';
import { SendLine } from '../../../../qdl/http2/send-line.ts';
import { ControlFrames } from '../../../../shared/http2/frames.ts';
import { Outgoing, PeerSettings } from '../../../../shared/http2/outgoing.ts';

// Goal: bytes stay as they are until the socket took them. Method: a socket that takes its time.

it('uses no buffer again that the socket has not taken, and then that one', () => {
  const written: { readonly bytes: Uint8Array; readonly taken: () => void }[] = [];
  const socket = {
    write: (bytes: Uint8Array, taken: () => void) => written.push({ bytes, taken }),
  } as unknown as Socket;
  const control = new ControlFrames();
  const request = { scheme: 'http', authority: 'x', userAgent: 'x', more: [] } as const;
  const line = new SendLine(new PeerSettings(), new RequestHeads(request), new Map());
  const outgoing = new Outgoing(socket, control, line, () => {});
  const send = (text: string): void => {
    control.pingAck(Buffer.from(text));
    outgoing.flush();
  };
  send('first___');
  send('second__');
  const texts = (): string[] => written.map(({ bytes }) => Buffer.from(bytes.slice(-8)).toString());
  expect(texts()).toEqual(['first___', 'second__']);
  send('third___');
  expect(written).toHaveLength(2);
  written[0]?.taken();
  expect(texts()).toEqual(['third___', 'second__', 'third___']);
});
