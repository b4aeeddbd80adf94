import { describe, expect, it } from 'vitest';
import { packageVersion } from '../../../../shared/base/files/package-files.ts';
import { FLAG, FRAME_TYPE } from '../../../../shared/http2/frames.ts';
import {
  callUnary,
  grpcMessage,
  HEAD,
  http2Scene,
  RecordedCall,
  SETTING,
  settingsOf,
  word,
} from '../../../scenes/oip-server/raw-http2-peer.ts';

// Goal: the client keeps to HTTP/2 and gRPC against a peer that does what it likes.
// Method: a peer on loopback that sends nothing but the frames that a test names.

const { data, headers, rstStream, settings, ping, windowUpdate } = FRAME_TYPE;

describe('requests', () => {
  it('carry traceparent where their call has one, and no other call has it', async () => {
    const { peer, connection } = await http2Scene();
    const ignoring = { onMessage: () => {}, onEnd: () => {} };
    const seen: Record<string, string>[] = [];
    for (const traceparent of ['00-a', undefined, '00-b', undefined]) {
      const call = connection.call('/test.Echo/Unary', ignoring, 'one', traceparent);
      call.write([Buffer.from('hello')], 5);
      call.end();
      seen.push(peer.headersOf(await peer.frame(headers, seen.length)) ?? {});
    }
    const carried = seen.map(({ traceparent }) => traceparent);
    expect(carried).toEqual(['00-a', undefined, '00-b', undefined]);
    const names = seen.map((all) => Object.keys(all).filter((name) => name !== 'traceparent'));
    expect(names.every((one) => one.join() === names[0]?.join())).toBe(true);
  });

  it('begin with the settings and carry the headers of gRPC', async () => {
    const { peer, connection, events } = await http2Scene();
    const call = callUnary(connection, Buffer.from('hello'));
    const request = await peer.frame(headers);
    expect(peer.headersOf(request)).toEqual({
      ':method': 'POST',
      ':scheme': 'http',
      ':path': '/test.Echo/Unary',
      ':authority': peer.address,
      te: 'trailers',
      'content-type': 'application/grpc',
      'user-agent': `longhaul/${packageVersion()}`,
      'grpc-accept-encoding': 'identity',
    });
    const message = await peer.frame(data);
    expect(message.payload).toEqual(grpcMessage(Buffer.from('hello')));
    expect([request.flags, message.flags]).toEqual([FLAG.endHeaders, FLAG.endStream]);
    expect(peer.frames.slice(0, 3).map(({ type }) => type)).toEqual([
      settings,
      windowUpdate,
      settings,
    ]);
    peer.answer(1, Buffer.from('world'));
    const { code, messages, endCount } = await call.ended;
    expect([code, String(messages[0]), endCount]).toEqual([0, 'world', 1]);
    expect(events.accepted[0]?.responseHeaders).toEqual([
      { name: 'content-type', value: 'application/grpc' },
    ]);
    expect(events.accepted[0]?.loadgen?.remotePort).toBe(Number(peer.address.split(':')[1]));
    expect(events.writtenBytes).toBe(10);
  });

  it('repeat their head in a few bytes', async () => {
    const { peer, connection } = await http2Scene();
    for (let i = 0; i < 3; i += 1) callUnary(connection, Buffer.of(i));
    const last = await peer.frame(headers, 2);
    expect(last.streamId).toBe(5);
    expect(last.payload.length).toBeLessThan(10);
  });

  it('leave a call alone that has sent nothing', async () => {
    const { peer, connection } = await http2Scene();
    const silent = new RecordedCall();
    const call = connection.call('/test.Echo/Stream', silent);
    callUnary(connection, Buffer.of(1));
    expect((await peer.frame(headers)).streamId).toBe(1);
    await peer.frame(data);
    expect(connection.callCount).toBe(2);
    call.cancel();
    expect((await silent.ended).code).toBe(1);
    expect(peer.frames.filter(({ type }) => type === headers)).toHaveLength(1);
  });

  it('keep to the windows of streams and connection, and to the frame size', async () => {
    const { peer, connection } = await http2Scene({
      [SETTING.initialWindowSize]: 20_000,
      [SETTING.maxFrameSize]: 16_384,
    });
    callUnary(connection, Buffer.alloc(100_000));
    await peer.until(() => peer.dataBytes.get(1) === 20_000, 'a full window of the stream');
    for (const id of [3, 5, 7]) {
      callUnary(connection, Buffer.alloc(19_000));
      await peer.until(() => (peer.dataBytes.get(id) ?? 0) > 0, `stream ${id}`);
    }
    const sum = (): number => [...peer.dataBytes.values()].reduce((a, b) => a + b, 0);
    await peer.until(() => sum() === 65_535, 'a full window of the connection');
    expect(Math.max(...peer.frames.map(({ payload }) => payload.length))).toBe(16_384);
    peer.send(windowUpdate, 0, 0, word(1_000_000));
    await peer.until(() => peer.dataBytes.get(7) === 19_005, 'the rest of stream 7');
    expect(peer.dataBytes.get(1)).toBe(20_000);
    peer.send(windowUpdate, 0, 1, word(80_005));
    await peer.until(() => peer.dataBytes.get(1) === 100_005, 'the rest of stream 1');
  });

  it('stop and go on with an initial window that changes below nothing', async () => {
    const { peer, connection } = await http2Scene({ [SETTING.initialWindowSize]: 10_000 });
    callUnary(connection, Buffer.alloc(40_000));
    await peer.until(() => peer.dataBytes.get(1) === 10_000, 'the first window');
    peer.send(settings, 0, 0, settingsOf({ [SETTING.initialWindowSize]: 2_000 }));
    peer.send(windowUpdate, 0, 1, word(8_000));
    peer.send(ping, 0, 0, Buffer.alloc(8));
    await peer.frame(ping);
    expect(peer.dataBytes.get(1)).toBe(10_000);
    peer.send(settings, 0, 0, settingsOf({ [SETTING.initialWindowSize]: 40_000 }));
    await peer.until(() => peer.dataBytes.get(1) === 40_005, 'the rest');
  });

  it('open no more calls than the peer takes, in order', async () => {
    const { peer, connection } = await http2Scene({ [SETTING.maxConcurrentStreams]: 2 });
    const calls = [1, 2, 3].map((i) => callUnary(connection, Buffer.of(i)));
    await peer.frame(data, 1);
    expect([connection.takesCall, connection.callCount]).toEqual([false, 3]);
    expect(peer.dataBytes.has(5)).toBe(false);
    peer.answer(3, Buffer.of(9));
    await calls[1]?.ended;
    expect((await peer.frame(data, 2)).payload).toEqual(grpcMessage(Buffer.of(3)));
    peer.send(settings, 0, 0, settingsOf({ [SETTING.maxConcurrentStreams]: 100 }));
    await peer.until(() => connection.takesCall, 'room for calls');
  });

  it('have room for bytes only as long as few wait', async () => {
    const { peer, connection } = await http2Scene();
    const first = callUnary(connection, Buffer.alloc(5_000_000));
    expect(connection.hasRoom).toBe(false);
    await peer.until(() => peer.dataBytes.get(1) === 65_535, 'the windows');
    expect(connection.hasRoom).toBe(false);
    peer.sendHeaders(1, { ...HEAD, 'grpc-status': '8', 'grpc-message': 'too%20large' }, true);
    expect(await first.ended).toMatchObject({ code: 8, details: 'too large' });
    expect(connection.hasRoom).toBe(true);
    // The server does not want the rest.
    expect((await peer.frame(rstStream)).streamId).toBe(1);
  });

  it('drop what is not out yet when a call is cancelled', async () => {
    const { peer, connection } = await http2Scene({ [SETTING.initialWindowSize]: 100 });
    const cancelled = new RecordedCall();
    const call = connection.call('/test.Echo/Unary', cancelled);
    call.write([Buffer.alloc(1_000)], 1_000);
    call.end();
    await peer.until(() => peer.dataBytes.get(1) === 100, 'the first bytes');
    call.cancel();
    expect(cancelled.endCount).toBe(0);
    expect(await cancelled.ended).toMatchObject({ code: 1, endCount: 1 });
    expect((await peer.frame(rstStream)).payload).toEqual(word(8));
    peer.send(windowUpdate, 0, 1, word(10_000));
    // Answers that were under way are no fault of the server.
    peer.answer(1, Buffer.of(1));
    const next = callUnary(connection, Buffer.of(1));
    peer.answer((await peer.frame(headers, 1)).streamId, Buffer.of(2));
    expect((await next.ended).code).toBe(0);
    expect([peer.dataBytes.get(1), cancelled.messages.length]).toEqual([100, 0]);
  });

  it('go out without the messages that were taken back, and finish the one that has begun', async () => {
    const { peer, connection, events } = await http2Scene({ [SETTING.initialWindowSize]: 20_000 });
    const call = connection.call('/test.Echo/Stream', new RecordedCall());
    const [begun, unsent] = [Buffer.alloc(30_000, 'a'), Buffer.alloc(30_000, 'b')];
    for (const message of [begun, unsent]) call.write([message], message.length);
    await peer.until(() => peer.dataBytes.get(1) === 20_000, 'the first window');
    expect([call.takeBackUnsent(), call.takeBackUnsent()]).toEqual([1, 0]);
    begun.fill('!');
    unsent.fill('!');
    call.write([Buffer.from('c')], 1);
    peer.send(windowUpdate, 0, 1, word(100_000));
    await peer.until(() => peer.dataBytes.get(1) === 30_011, 'all that is left');
    const sent = Buffer.concat(peer.frames.flatMap((f) => (f.type === data ? [f.payload] : [])));
    const whole = Buffer.alloc(30_000, 'a');
    expect(sent.equals(Buffer.concat([grpcMessage(whole), grpcMessage(Buffer.from('c'))]))).toBe(
      true,
    );
    expect(events.writtenBytes).toBe(30_011);
    expect(call.takeBackUnsent()).toBe(0);
  });

  it('never send a call that is cancelled in the same tick', async () => {
    const { peer, connection } = await http2Scene();
    const cancelled = new RecordedCall();
    const call = connection.call('/test.Echo/Unary', cancelled);
    call.write([Buffer.of(7)], 1);
    call.cancel();
    callUnary(connection, Buffer.of(8));
    expect((await peer.frame(data)).payload).toEqual(grpcMessage(Buffer.of(8)));
    expect((await cancelled.ended).code).toBe(1);
  });
});
