import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Throttling } from '../../../../../loadgen-node/observe/health/process-monitor.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: a CPU limit that stopped LoadGen is known by its counters. Method: files as the kernel
// writes them for control groups of version 1 and 2.

/** Folder of a control group, and what writes its cpu.stat. */
function controlGroup() {
  const folder = tempFolder();
  mkdirSync(folder, { recursive: true });
  return { folder, says: (text: string) => writeFileSync(join(folder, 'cpu.stat'), text) };
}

describe('the throttling of a process', () => {
  it.each<[string, (periods: number, throttled: number, us: number) => string]>([
    [
      'version 2, in microseconds',
      (periods, throttled, us) =>
        `usage_usec 9\nnr_periods ${periods}\nnr_throttled ${throttled}\nthrottled_usec ${us}\n`,
    ],
    [
      'version 1, in nanoseconds',
      (periods, throttled, us) =>
        `nr_periods ${periods}\nnr_throttled ${throttled}\nthrottled_time ${us * 1_000}\n`,
    ],
  ])('is what its control group counted since the begin: %s', (_version, stat) => {
    const { folder, says } = controlGroup();
    says(stat(100, 7, 50_000));
    const throttling = new Throttling([folder]);
    says(stat(718, 588, 7_550_000));
    expect(throttling.end()).toEqual({ periods: 618, throttledPeriods: 581, totalNs: 7.5e9 });
  });

  it('is that of the group which stopped it longest', () => {
    const [own, above] = [controlGroup(), controlGroup()];
    for (const { says } of [own, above]) says('nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n');
    const throttling = new Throttling([own.folder, join(own.folder, 'gone'), above.folder]);
    own.says('nr_periods 9\nnr_throttled 1\nthrottled_usec 5\n');
    above.says('nr_periods 9\nnr_throttled 8\nthrottled_usec 900\n');
    expect(throttling.end()).toMatchObject({ throttledPeriods: 8 });
  });

  it('is none without a limit, and without control groups', () => {
    const { folder, says } = controlGroup();
    says('usage_usec 9\n');
    expect(new Throttling([folder]).end()).toBeNull();
    // Of a limit that holds for nobody the kernel counts no periods.
    says('nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n');
    expect(new Throttling([folder]).end()).toBeNull();
    expect(new Throttling([]).end()).toBeNull();
  });
});
