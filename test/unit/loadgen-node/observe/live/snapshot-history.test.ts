import { describe, expect, it } from 'vitest';
import {
  type LiveSnapshot,
  POINTS_MAX,
  SnapshotHistory,
} from '../../../../../loadgen-node/observe/live/live-snapshot.ts';
import { liveSecond } from '../../../../support/runs/live-snapshots.ts';

// Goal: a history of any length stays small and loses no spike. Method: made-up seconds.

function historyOf(seconds: number, change: (second: LiveSnapshot) => LiveSnapshot = (s) => s) {
  const history = new SnapshotHistory();
  for (let second = 1; second <= seconds; second += 1) history.add(change(liveSecond(second)));
  return history;
}

describe('SnapshotHistory', () => {
  it('keeps every second while there is room', () => {
    const history = historyOf(POINTS_MAX);
    expect(history.points).toHaveLength(POINTS_MAX);
    expect(history.pointS).toBe(1);
  });

  it('halves what it has when there is no more room, again and again', () => {
    const history = historyOf(6_000);
    expect(history.points.length).toBeLessThanOrEqual(POINTS_MAX);
    expect(history.points.length).toBeGreaterThan(POINTS_MAX / 2);
    expect(history.pointS).toBe(8);
    const covered = history.points.reduce((sum, { windowS }) => sum + windowS, 0);
    expect(covered).toBe(6_000);
    expect(history.points.at(-1)?.totals.completedSamples).toBe(600_000);
  });

  it('keeps a spike of one second', () => {
    const history = historyOf(2_000, (second) =>
      second.atS === 1234 && second.latency !== null
        ? { ...second, outstanding: 999, latency: { ...second.latency, p99Ns: 7e9 } }
        : second,
    );
    expect(Math.max(...history.points.map(({ latency }) => latency?.p99Ns ?? 0))).toBe(7e9);
    expect(Math.max(...history.points.map(({ outstanding }) => outstanding))).toBe(999);
  });

  it('takes the short rest at the end of a set for a part of the second before', () => {
    const history = historyOf(3);
    const rest = { ...liveSecond(4), windowS: 0.01, completedPerS: 5000, hasEnded: true };
    history.add(rest);
    expect(history.points).toHaveLength(3);
    expect(history.latest?.completedPerS).toBeLessThan(200);
    expect(history.latest?.totals).toEqual(rest.totals);
  });

  it('never mixes two phases', () => {
    const history = new SnapshotHistory();
    history.add({ ...liveSecond(1), phase: 'accuracy', windowS: 0.1, hasEnded: true });
    history.add({ ...liveSecond(2), windowS: 0.1, hasEnded: true });
    expect(history.points.map(({ phase }) => phase)).toEqual(['accuracy', 'performance']);
  });

  it('merges seconds in which nothing was measured', () => {
    const nothing = { latency: null, lag: null, split: null };
    const history = historyOf(2 * POINTS_MAX, (second) =>
      second.atS % 2 === 0 ? { ...second, ...nothing } : second,
    );
    expect(history.points.every(({ latency, lag, split }) => latency && lag && split)).toBe(true);
  });
});
