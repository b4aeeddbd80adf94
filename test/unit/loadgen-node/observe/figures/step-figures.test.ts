import { describe, expect, it } from 'vitest';
import {
  type StepFigures,
  stepFigures,
} from '../../../../../loadgen-node/observe/figures/step-figures.ts';
import {
  allocateRecords,
  type SampleRecords,
} from '../../../../../loadgen-node/observe/records/sample-records.ts';
import { stepTable, tableText } from '../../../../../loadgen-node/present/text/result-tables.ts';

/** Records of queries, each `[due, latency]` in ms; a latency of null: lost. */
function recordsOf(rows: readonly (readonly [number, number | null])[]): SampleRecords {
  const records = allocateRecords(rows.length, { hasTokens: false, hasFirstTokens: false });
  for (const [row, [dueMs, latencyMs]] of rows.entries()) {
    records.query[row] = row;
    records.scheduledNs[row] = dueMs * 1e6;
    // LoadGen is 1 ms late.
    records.issuedNs[row] = (dueMs + 1) * 1e6;
    records.completedNs[row] = latencyMs === null ? Number.NaN : (dueMs + latencyMs) * 1e6;
  }
  return records;
}

function step(fromQps: number, seconds: number, toQps = fromQps) {
  return { fromQps, toQps, durationNs: seconds * 1e9 };
}

// Goal: a user sees at which step a SUT saturates. Method: few records, figures by hand.
describe('stepFigures', () => {
  it('counts latencies where queries were due, and completions where they were completed', () => {
    const rows = [
      ...[0, 200, 400, 600, 800].map((ms) => [ms, 10] as const),
      // Due at the boundary: of the second step. The last two are completed behind its end.
      ...([1000, 1250, 1500, 1750] as const).map((ms, i) => [ms, 100 * (i + 1)] as const),
    ];
    const [first, second] = stepFigures(recordsOf(rows), [step(5, 1), step(4, 1)]);
    expect(first).toEqual({
      ...{ rate: '5', fromNs: 0, toNs: 1e9, offeredQps: 5, dueQueries: 5, dueQps: 5 },
      ...{
        completedQps: 5,
        p50Ns: 10e6,
        p99Ns: 10e6,
        maxNs: 10e6,
        lagP99Ns: 1e6,
        lost: 0,
        isKeptUp: true,
      },
    });
    expect(second).toMatchObject({ fromNs: 1e9, toNs: 2e9, dueQueries: 4, completedQps: 3 });
    expect(second).toMatchObject({ p50Ns: 300e6, p99Ns: 400e6, maxNs: 400e6, isKeptUp: false });
  });

  it('counts a backlog for the step in which it is worked off', () => {
    const rows = [
      [0, 1500],
      [1, 1600],
      [1100, 10],
    ] as const;
    const [first, second] = stepFigures(recordsOf(rows), [step(2, 1), step(1, 1)]);
    expect([first?.completedQps, second?.completedQps]).toEqual([0, 3]);
    expect([first?.isKeptUp, second?.isKeptUp]).toEqual([false, true]);
  });

  it('leaves lost queries out of the latencies and tells how many there were', () => {
    const [figures] = stepFigures(
      recordsOf([
        [0, null],
        [100, 20],
        [200, null],
      ]),
      [step(3, 1)],
    );
    expect(figures).toMatchObject({ dueQueries: 3, lost: 2, p50Ns: 20e6, isKeptUp: false });
  });

  it('has no figures of a pause or a step that was never reached', () => {
    const steps = [step(1, 1), step(0, 1), step(10, 1, 20)];
    const [, pause, ramp] = stepFigures(recordsOf([[0, 20]]), steps);
    const none = {
      dueQueries: 0,
      p50Ns: null,
      p99Ns: null,
      maxNs: null,
      lagP99Ns: null,
      isKeptUp: null,
    };
    expect(pause).toMatchObject({ ...none, rate: '0', offeredQps: 0 });
    expect(ramp).toMatchObject({ ...none, rate: '10-20', offeredQps: 15, fromNs: 2e9, toNs: 3e9 });
  });
});

describe('text of the steps', () => {
  const rows = [
    [0, 10],
    [500, 20],
    [1000, 1200],
    [1250, 1300],
    [1500, 1400],
  ] as const;
  const figures = stepFigures(recordsOf(rows), [step(2, 1), step(3, 1)]);

  it('has a line per step below one of titles, each column as wide as its widest cell', () => {
    expect(tableText(stepTable(figures)).slice(0, -1)).toEqual([
      'from   offered /s   due /s   completed /s     p50     p99   largest   dispatch lag p99   lost',
      ' 0 s            2     2.00           2.00   20 ms   20 ms     20 ms               1 ms      0',
      ' 1 s            3     3.00           0.00   1.3 s   1.4 s     1.4 s               1 ms      0',
    ]);
  });

  it.each<[string, readonly StepFigures[], string]>([
    [
      'the first step that it did not keep up with',
      figures,
      'Step 2 (3 queries/s) is the first that the SUT did not keep up with: 3.00 queries/s were due and 0.00 were completed while it lasted.',
    ],
    ['that it kept up', figures.slice(0, 1), 'The SUT kept up in every step.'],
    [
      'that it kept up where anything was due',
      stepFigures(recordsOf([[0, 10]]), [step(1, 1), step(5, 1)]),
      'The SUT kept up in every step in which queries were due.',
    ],
    [
      'what was lost',
      stepFigures(
        recordsOf([
          [0, null],
          [1, 10],
        ]),
        [step(2, 1)],
      ),
      'Step 1 (2 queries/s) is the first that the SUT did not keep up with: 1 of 2 queries were lost.',
    ],
  ])('tells %s', (_case, steps, text) => {
    expect(stepTable(steps).verdict).toBe(text);
  });
});
