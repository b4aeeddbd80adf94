import { describe, expect, it } from 'vitest';
import type {
  Query,
  ResponseSink,
  SystemUnderTest,
} from '../../../shared/domain/system-under-test.ts';
import { ClosedLoop } from '../../bench/wire/closed-loop.ts';

// Goal: the loop of the wire benchmark keeps its number of queries outstanding, counts each once
// and ends by itself. Method: a SUT that answers in the next turn; no figure is judged.

/** Answers each query in the next turn of the event loop; notes how many it held at most. */
class NextTurnSut implements SystemUnderTest {
  readonly sampleIndices: number[] = [];
  largestHeld = 0;
  #held: number[] = [];
  #sink: ResponseSink | undefined;

  name(): Promise<string> {
    return Promise.resolve('Network SUT of the test');
  }

  start(sink: ResponseSink): Promise<void> {
    this.#sink = sink;
    return Promise.resolve();
  }

  issueQuery({ firstResponseId, sampleIndices, sampleOffset }: Query): void {
    this.sampleIndices.push(sampleIndices[sampleOffset] as number);
    this.#held.push(firstResponseId);
    this.largestHeld = Math.max(this.largestHeld, this.#held.length);
    if (this.#held.length === 1) setImmediate(() => this.#answer());
  }

  flushQueries(): void {}

  stop(): Promise<void> {
    return Promise.resolve();
  }

  #answer(): void {
    const held = this.#held.splice(0);
    const sink = this.#sink as ResponseSink;
    for (const id of held) sink.complete(id, new Uint8Array(4), 0, sink.nowNs());
  }
}

async function runLoop(queriesMax: number) {
  const sut = new NextTurnSut();
  const loop = new ClosedLoop(sut, {
    outstanding: 16,
    sampleCount: 10,
    warmUpNs: 0,
    measuredNs: 60e9,
    queriesMax,
    serverPid: process.pid,
  });
  await sut.start(loop);
  return { sut, loop, measured: await loop.run() };
}

describe('the closed loop of the wire benchmark', () => {
  it('keeps so many queries outstanding until all were issued', async () => {
    const { sut, loop } = await runLoop(1000);
    expect(sut.largestHeld).toBe(16);
    expect(loop.completedCount).toBe(1000);
  });

  it('takes the samples of the library in turn', async () => {
    const { sut } = await runLoop(25);
    expect(sut.sampleIndices).toEqual(Array.from({ length: 25 }, (_, i) => i % 10));
  });

  it('reports latencies, and CPU time of both ends', async () => {
    const { measured } = await runLoop(1000);
    expect(measured.queries).toBeGreaterThan(0);
    expect(measured.p99Us).toBeGreaterThanOrEqual(measured.p50Us);
    expect(measured.clientCpuUs).toBeGreaterThan(0);
    expect(measured.serverCpuUs).toBeGreaterThanOrEqual(0);
  });
});
