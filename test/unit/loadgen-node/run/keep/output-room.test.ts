import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { requireWritable } from '../../../../../loadgen-node/run/keep/earlier-run.ts';
import {
  requireOutputRoom,
  requirePlanMemory,
} from '../../../../../loadgen-node/run/keep/output-room.ts';
import { planRun } from '../../../../../loadgen-node/run/plan/run-plan.ts';
import { RUN_SETTINGS, type RunValues } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: a run that this machine cannot hold or keep is refused before anything starts, with the
// figures. Method: plans, a folder of the real disk, and a memory that the test decides.
// test/integration/run/ends.alone.test.ts has small disks.

function plan(flags: Readonly<Record<string, string>>) {
  const asked = { sut: '10.0.1.1:50051', benchmark: 'null', minDuration: '10s', ...flags };
  const { values } = resolveSettings(RUN_SETTINGS, {
    section: 'run',
    file: undefined,
    flags: asked,
  });
  return planRun(values as RunValues, { said: new Set(Object.keys(asked)) });
}

describe('memory for a plan', () => {
  it.each<[string, number, string]>([
    ['of the machine', 0, "0.1 GB are free of this machine's"],
    ['of a container', 200e6, '0.1 GB are free of the 0.2 GB that this container or control group'],
  ])('%s is held against its samples', (_case, limit, text) => {
    const free = vi.spyOn(process, 'availableMemory').mockReturnValue(100e6);
    const most = vi.spyOn(process, 'constrainedMemory').mockReturnValue(limit);
    onTestFinished(() => {
      free.mockRestore();
      most.mockRestore();
    });
    expect(() => requirePlanMemory(plan({ targetQps: '200000' }))).toThrow(
      /plan 2,000,000 samples, which take 0\.1 GB of memory; /,
    );
    expect(() => requirePlanMemory(plan({ targetQps: '200000' }))).toThrow(text);
    expect(() => requirePlanMemory(plan({ targetQps: '100' }))).not.toThrow();
  });
});

describe('an output folder', () => {
  it('that can be written is left as it was, and one that is not there is not made', () => {
    const folder = tempFolder();
    requireOutputRoom(plan({ targetQps: '100', output: join(folder, 'a', 'b') }), 0);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that cannot be written is refused', () => {
    const gone = join('/proc', 'longhaul-output');
    expect(() => requireWritable(gone)).toThrow(`--output ${gone} cannot be written (/proc): `);
  });
});
