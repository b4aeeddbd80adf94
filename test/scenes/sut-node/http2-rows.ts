import { expect, it } from 'vitest';
import { FLAG, FRAME_TYPE } from '../../../shared/http2/frames.ts';
import { frame, grpcMessage, settingsOf, word } from '../oip-server/raw-http2-peer.ts';
import {
  blockOf,
  HELLO,
  INFER_BLOCK,
  INFER_HEADERS,
  inferHead,
  PING,
  ServerScene,
} from './http2-server.ts';

const { data, headers, rstStream, settings } = FRAME_TYPE;
const { endStream, endHeaders } = FLAG;

/**
 * Expected outcome: an error of the connection, or of stream 1; status 0 (answered) or another on
 * stream 1; or no answer.
 *
 * Where the RFC asks for an error of the stream and a row says one of the connection, it is for
 * this sentence of RFC 9113, 5.4.1: "an endpoint MAY choose to treat a stream error as a connection
 * error".
 */
export type Outcome =
  | `connection ${string}`
  | `stream ${string}`
  | `status ${number}`
  | 'answered'
  | 'ignored';

export interface Row {
  readonly section: string;
  readonly what: string;
  readonly sent: readonly Buffer[];
  readonly must: Outcome;
}

export const row = (
  section: string,
  what: string,
  sent: readonly Buffer[],
  must: Outcome,
): Row => ({
  section,
  what,
  sent,
  must,
});

export const NOTHING: Buffer = Buffer.alloc(0);
export const MESSAGE = grpcMessage(Buffer.from('a query'));
/** The call of stream 1: open; with its message and end. */
export const OPEN = inferHead(1);
export const END = frame(data, endStream, 1, MESSAGE);
export const DONE = [OPEN, END];
export const RESET = frame(rstStream, 0, 1, word(8));
export const PROTOCOL_ERROR = 'connection PROTOCOL_ERROR';
export const FRAME_SIZE_ERROR = 'connection FRAME_SIZE_ERROR';
export const FLOW_CONTROL_ERROR = 'connection FLOW_CONTROL_ERROR';
export const COMPRESSION_ERROR = 'connection COMPRESSION_ERROR';
export const TOO_MUCH = 'connection ENHANCE_YOUR_CALM';

/** Only the head of a frame, with any length. */
export function headOnly(type: number, length: number, streamId: number): Buffer {
  const head = frame(type, 0, streamId);
  head.writeUIntBE(length, 0, 3);
  return head;
}

export const setting = (id: number, value: number): Buffer =>
  frame(settings, 0, 0, settingsOf({ [id]: value }));

/** A call with that block, which ends with it or goes on to END. */
export const callOf = (block: Uint8Array): Buffer[] => [frame(headers, endHeaders, 1, block), END];
export const callWith = (more: Readonly<Record<string, string>>): Buffer[] =>
  callOf(blockOf({ ...INFER_HEADERS, ...more }));
export function callWithout(name: string): Buffer[] {
  return callOf(blockOf(INFER_ENTRIES.filter(([one]) => one !== name)));
}
export const callOfEntries = (entries: readonly (readonly [string, string])[]): Buffer[] =>
  callOf(blockOf(entries));
export const INFER_ENTRIES: readonly (readonly [string, string])[] = Object.entries(INFER_HEADERS);
/** The block of a call with bytes before, or behind. */
export const behind = (...bytes: number[]): Buffer[] =>
  callOf(Buffer.concat([INFER_BLOCK, Buffer.from(bytes)]));
export const before = (...bytes: number[]): Buffer[] =>
  callOf(Buffer.concat([Buffer.from(bytes), INFER_BLOCK]));

/** The end of the connection. */
export function outcomeOf(scene: ServerScene): string {
  const { connectionError, streamErrors } = scene;
  if (connectionError !== undefined) return `connection ${connectionError}`;
  if (streamErrors.length > 0) return `stream ${streamErrors.join(' ')}`;
  const status = scene.statusOf(1);
  if (status === undefined) return 'ignored';
  return status === '0' ? 'answered' : `status ${status}`;
}

/** A test for each row: a connection gets preface and settings, what the row says, and a PING. */
export function holdRows(rows: readonly Row[]): void {
  it.each(rows)('$section: $what: $must', async ({ sent, must }) => {
    const scene = new ServerScene();
    await scene.send(HELLO, ...sent, PING);
    expect(outcomeOf(scene)).toBe(must);
    const isOver = must.startsWith('connection');
    // Whatever is ignored or ends a stream leaves the connection as it is; an error of it ends all.
    expect([scene.socket.destroyed, scene.pongs > 0]).toEqual([isOver, !isOver]);
    if (isOver) expect([scene.connection.callCount, scene.closedCount]).toEqual([0, 1]);
    for (const { halfClosedCount, cancelledCount } of scene.handled) {
      expect(halfClosedCount + cancelledCount).toBeLessThanOrEqual(1);
    }
    scene.socket.destroy();
  });
}
