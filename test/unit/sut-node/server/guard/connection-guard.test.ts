import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  ConnectionGuard,
  type ConnectionRefusal,
  RefusalLines,
} from '../../../../../sut-node/server/guard/connection-guard.ts';
import {
  CONNECTIONS_MAX,
  CONNECTIONS_PER_ADDRESS_MAX,
} from '../../../../../sut-node/server/limits/node-limits.ts';

// Goal: a full node closes the connection that is least worth, and never one with a call. Method:
// sockets that know their address and whether they were closed.

class FakeSocket extends EventEmitter {
  static #ports = 0;
  readonly remoteAddress: string;
  readonly remotePort: number;
  isDestroyed = false;

  constructor(address: string) {
    super();
    FakeSocket.#ports += 1;
    this.remoteAddress = address;
    this.remotePort = FakeSocket.#ports;
  }

  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }
}

function admit(guard: ConnectionGuard, address: string): FakeSocket {
  const socket = new FakeSocket(address);
  guard.admit(socket as unknown as Socket);
  return socket;
}

function fill(guard: ConnectionGuard, address: string): FakeSocket[] {
  return Array.from({ length: CONNECTIONS_PER_ADDRESS_MAX }, () => admit(guard, address));
}

const openOf = (sockets: readonly FakeSocket[]): number =>
  sockets.filter((socket) => !socket.isDestroyed).length;

describe('ConnectionGuard', () => {
  it('closes the oldest connection without a call for a new one of the same address', () => {
    const guard = new ConnectionGuard(60_000, () => {});
    const sockets = fill(guard, '10.0.0.1');
    guard.beginCall(sockets[0] as FakeSocket)();
    const other = admit(guard, '10.0.0.2');
    const late = admit(guard, '10.0.0.1');
    expect([sockets[0], sockets[1], other, late].map((socket) => socket?.isDestroyed)).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  it('closes the one whose last call ended the longest time ago when all have called', () => {
    const guard = new ConnectionGuard(60_000, () => {});
    const sockets = fill(guard, '10.0.0.1');
    for (const socket of sockets.toReversed()) guard.beginCall(socket)();
    admit(guard, '10.0.0.1');
    expect(sockets.at(-1)?.isDestroyed).toBe(true);
    expect(openOf(sockets)).toBe(CONNECTIONS_PER_ADDRESS_MAX - 1);
  });

  it('refuses the new one when all have calls, and takes one again when a call ends', () => {
    const told: [ConnectionRefusal, string][] = [];
    const guard = new ConnectionGuard(60_000, (...refusal) => told.push(refusal));
    const sockets = fill(guard, '10.0.0.1');
    const ends = sockets.map((socket) => guard.beginCall(socket));
    expect(admit(guard, '10.0.0.1').isDestroyed).toBe(true);
    expect(told).toEqual([['address', '10.0.0.1']]);
    ends[5]?.();
    expect(admit(guard, '10.0.0.1').isDestroyed).toBe(false);
    expect(told.slice(1)).toEqual([['replaced', '10.0.0.1']]);
    expect(sockets[5]?.isDestroyed).toBe(true);
    expect(openOf(sockets)).toBe(CONNECTIONS_PER_ADDRESS_MAX - 1);
  });

  it('closes even one with a call where none keeps its place, but the idle ones first', () => {
    const room = { connectionsMax: 3, perAddressMax: 2, keepsBusy: false };
    const guard = new ConnectionGuard(60_000, () => {}, room);
    const [busy, idle] = [admit(guard, '10.0.0.1'), admit(guard, '10.0.0.1')];
    guard.beginCall(busy);
    const third = admit(guard, '10.0.0.1');
    expect([busy, idle, third].map(({ isDestroyed }) => isDestroyed)).toEqual([false, true, false]);
    guard.beginCall(third);
    expect(admit(guard, '10.0.0.1').isDestroyed).toBe(false);
    expect([busy, third].map(({ isDestroyed }) => isDestroyed)).toEqual([true, false]);
  });

  it('bounds the connections of all addresses together', () => {
    const told: ConnectionRefusal[] = [];
    const guard = new ConnectionGuard(60_000, (reason) => told.push(reason));
    const sockets = Array.from({ length: CONNECTIONS_MAX + 20 }, (_, i) =>
      admit(guard, `10.0.${Math.floor(i / 60)}.1`),
    );
    expect(openOf(sockets)).toBe(CONNECTIONS_MAX);
    expect(sockets.slice(0, 20).every((socket) => socket.isDestroyed)).toBe(true);
    expect(told).toEqual(Array.from({ length: 20 }, () => 'replaced'));
    for (const socket of sockets) guard.beginCall(socket);
    expect(admit(guard, '10.1.0.1').isDestroyed).toBe(true);
    expect(told.at(-1)).toBe('all');
  });

  it('closes a connection that makes no call in time, and no other', async () => {
    const told: ConnectionRefusal[] = [];
    const guard = new ConnectionGuard(20, (reason) => told.push(reason));
    const [silent, caller] = [admit(guard, '10.0.0.1'), admit(guard, '10.0.0.1')];
    guard.beginCall(caller)();
    await expect.poll(() => silent.isDestroyed).toBe(true);
    expect(caller.isDestroyed).toBe(false);
    expect(told).toEqual(['no-call']);
  });

  it('gives a peer without the token time, and no place of its own', async () => {
    const guard = new ConnectionGuard(60, () => {});
    const sockets = fill(guard, '10.0.0.1');
    const [probe, caller] = sockets as [FakeSocket, FakeSocket];
    for (const socket of sockets.slice(1)) guard.beginCall(socket)();
    guard.touch(probe);
    expect(guard.count).toBe(CONNECTIONS_PER_ADDRESS_MAX);
    admit(guard, '10.0.0.1');
    expect([probe.isDestroyed, caller.isDestroyed]).toEqual([true, false]);
    const other = admit(guard, '10.0.0.2');
    await expect.poll(() => other.isDestroyed).toBe(true);
  });
});

describe('RefusalLines', () => {
  it('are one for each reason at once, and one for all that follow within 10 s', () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const lines: string[] = [];
    const refusals = new RefusalLines((line, address) => lines.push(`${address}: ${line}`));
    const written = (): string[] => lines.splice(0).map((line) => line.replace(/ \(docs.*/, ''));
    for (let i = 0; i < 1_000; i += 1) refusals.add('address', '10.0.0.1');
    refusals.add('no-call', '10.0.0.2');
    expect(written()).toEqual([
      '10.0.0.1: a connection was refused: its address has 64 with open calls, and no address may have more',
      '10.0.0.2: a connection was closed: it made no call within --handshake-timeout',
    ]);
    vi.advanceTimersByTime(10_000);
    expect(written()).toEqual([
      '10.0.0.1: 999 more in 10 s, refused: its address has 64 with open calls, and no address may have more',
    ]);
    refusals.add('address', '10.0.0.3');
    vi.advanceTimersByTime(9_999);
    expect(written()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(written()).toHaveLength(1);
    vi.advanceTimersByTime(10_000);
    refusals.add('no-call', '10.0.0.2');
    expect(written()).toHaveLength(1);
  });
});
