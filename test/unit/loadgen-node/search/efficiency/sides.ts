import type { EfficiencySide } from '../../../../../loadgen-node/search/efficiency/efficiency-file.ts';

/** A side without search and runs, but for what is said. */
export function sideOf(
  kind: EfficiencySide['kind'],
  said: Partial<EfficiencySide> = {},
): EfficiencySide {
  return {
    ...{ kind, sutName: kind, measuredAt: '2026-01-01T00:00:00.000Z' },
    machine: { hostname: 'a', cpuCount: 2, bootId: 'c' },
    model: { name: 'm', sha256: 'f00', configuration: 'm/1' },
    question: { scenario: 'Server', seed: '1' },
    ...{ search: null, runs: [] },
    ...said,
  };
}
