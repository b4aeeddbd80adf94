import { describe, expect, it } from 'vitest';
import { type MakeCaller, UnaryLoop } from '../../bench/oip/unary-loop.ts';

// Goal: the loop keeps so many calls outstanding and no more, and counts those of its span alone.

describe('UnaryLoop', () => {
  it('keeps its calls outstanding, takes payloads in turn and stops with its span', async () => {
    let outstanding = 0;
    let outstandingMax = 0;
    const payloads: number[] = [];
    const makeCaller: MakeCaller = (_number, completed) => (payload) => {
      payloads.push(payload);
      outstanding += 1;
      outstandingMax = Math.max(outstandingMax, outstanding);
      setImmediate(() => {
        outstanding -= 1;
        completed();
      });
    };
    const beginMs = Date.now() + 20;
    const edges: number[] = [];
    const job = { outstanding: 3, sampleCount: 4 };
    const loop = new UnaryLoop(job, { beginMs, endMs: beginMs + 200 }, () =>
      edges.push(payloads.length),
    );
    const latenciesUs = await loop.run(makeCaller, job.outstanding);
    expect(outstandingMax).toBe(3);
    expect(payloads.slice(0, 6)).toEqual([0, 1, 2, 3, 0, 1]);
    const [begun, ended] = edges as [number, number];
    expect(edges).toHaveLength(2);
    // Between the edges as many completed as were issued, less those that the last one did not
    // issue.
    expect(latenciesUs.length).toBe(ended - begun);
    expect(latenciesUs.length).toBeGreaterThan(0);
    expect(latenciesUs.every((us) => us > 0)).toBe(true);
  });

  it('fails when a call does', async () => {
    const beginMs = Date.now();
    const loop = new UnaryLoop(
      { outstanding: 1, sampleCount: 1 },
      { beginMs, endMs: beginMs + 1e6 },
    );
    const makeCaller: MakeCaller = (_number, _completed, failed) => () =>
      failed(new Error('refused'));
    await expect(loop.run(makeCaller, 1)).rejects.toThrow('refused');
  });
});
