import { expect, it } from 'vitest';
import { runTest } from '../../../../loadgen-node/loadgen/engine/start-test.ts';
import type {
  ChannelEvents,
  ChannelPlace,
  DispatchChannel,
  OutgoingPart,
} from '../../../../qdl/dispatch/dispatch-channel.ts';
import { NetworkNames } from '../../../../qdl/dispatch/network-name.ts';
import { OutstandingTable } from '../../../../qdl/dispatch/outstanding-table.ts';
import {
  type ProtocolDriver,
  type QdlNode,
  QueryDispatchLibrary,
} from '../../../../qdl/dispatch/query-dispatch-library.ts';
import { RunLedgerCounter } from '../../../../qdl/dispatch/run-ledger.ts';
import { defaultDispatchSettings } from '../../../../qdl/settings/dispatch-settings.ts';
import { ClaimBook } from '../../../../shared/evidence/node-claims.ts';
import { SimulatedClock } from '../../../scenes/clock.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';
import { MemoryQsl } from '../../../scenes/simulated-run/memory-qsl.ts';
import { V41_SETTINGS } from '../../../scenes/simulated-run/simulated-run.ts';

// Goal: a protocol that tells tokens by their number, as a stream of server-sent events does, gives
// LoadGen the times between them. Method: a whole test of the engine over the QDL, whose channel
// answers by the simulated clock.

const MS = 1e6;

/**
 * Tells a first token after 1 ms, two more after 3 ms, another one after 6 ms, and the end with it.
 */
class CountingChannel implements DispatchChannel {
  readonly place: ChannelPlace;
  readonly outstanding: OutstandingTable;
  readonly #events: ChannelEvents;
  readonly #clock: SimulatedClock;

  constructor(place: ChannelPlace, events: ChannelEvents, clock: SimulatedClock) {
    this.place = place;
    this.outstanding = new OutstandingTable(place);
    this.#events = events;
    this.#clock = clock;
  }

  canTake(sampleCount: number): boolean {
    return this.outstanding.canTake(sampleCount);
  }

  hasCreditFor(sampleCount: number): boolean {
    return this.outstanding.canTake(sampleCount);
  }

  send({ samples }: OutgoingPart): undefined {
    for (const { id, payload } of samples) {
      this.#after(1 * MS, (nowNs) => this.#events.onFirstToken(this, id, payload, nowNs));
      this.#after(3 * MS, (nowNs) => this.#events.onTokens(this, id, 2, nowNs));
      this.#after(6 * MS, (nowNs) => {
        this.#events.onTokens(this, id, 1, nowNs);
        const sample = { payload, tokenCount: 4, durations: undefined };
        this.#events.onCompleted(this, id, sample, nowNs);
        this.#events.onRoom();
      });
    }
  }

  releaseAll(): Float64Array {
    return this.outstanding.releaseAll();
  }

  readonly dropUnsent = (): void => {};
  readonly retire = (): void => {};

  #after(ns: number, act: (nowNs: number) => void): void {
    this.#clock.callAt(this.#clock.nowNs() + ns, () => act(this.#events.nowNs()));
  }
}

function driverOf(clock: SimulatedClock): ProtocolDriver {
  const node = {
    ...{ address: '10.0.0.1:80', ledger: new RunLedgerCounter(), claims: new ClaimBook() },
    evidence: () => ({}) as ReturnType<QdlNode['evidence']>,
  };
  const names = new NetworkNames([], 'open');
  names.ask = () => Promise.resolve('Network SUT: counts');
  return {
    nodes: [node],
    names,
    connect: () => Promise.resolve(),
    channelCounts: () => ({ channelsPerNode: 1, connectionsPerNode: 1, nodeOutstandingMax: 8 }),
    openChannels: async (places, events) => ({
      channels: places.map((place) => new CountingChannel(place, events, clock)),
      limits: { bytesMax: 1_000, samplesMax: 1, sampleBytesMax: 1_000 },
    }),
    closeChannels: () => Promise.resolve(),
    compareLedgers: () => Promise.resolve([]),
    close: () => Promise.resolve(),
    evidence: () => ({ protocol: 'longhaul' }),
  };
}

it('tokens that are told by their number have times between them', async () => {
  const clock = new SimulatedClock();
  const payload = Uint8Array.of(7, 0, 0, 0);
  const payloads = {
    payloadOf: () => payload,
    encoding: { form: 'raw', compression: 'identity' },
  };
  const settings = defaultDispatchSettings(['10.0.0.1:80']);
  const qdl = new QueryDispatchLibrary(settings, payloads, driverOf(clock));
  const { performance } = await clock.drive(
    runTest({
      ...{ sut: qdl, qsl: new MemoryQsl(10), clock, timesTokens: true },
      settings: {
        ...V41_SETTINGS,
        ...{
          scenario: 'SingleStream',
          useTokenLatencies: true,
          minDurationMs: 0,
          minQueryCount: 10,
        },
      },
      log: { outdir: tempFolder() },
      ...{ stallTimeoutNs: 30e9, drainTimeoutNs: 2e9 },
    }),
  );
  expect(performance?.counts).toMatchObject({ completedSamples: 10, contractErrors: 0 });
  const { firstToken, gaps } = performance?.summary.tokens ?? {};
  expect(firstToken?.maxNs).toBe(1 * MS);
  // From 1 to 3 ms, none within the two that come together, from 3 to 6 ms.
  expect([gaps?.histogram.count, gaps?.longest.maxNs]).toEqual([30, 3 * MS]);
});
