import { readFileSync } from 'node:fs';
import { runTest } from '../../../loadgen-node/loadgen/engine/start-test.ts';
import type { TestSetup } from '../../../loadgen-node/loadgen/engine/test-context.ts';
import type { TestOutcome } from '../../../loadgen-node/loadgen/engine/test-outcome.ts';
import {
  defaultTestSettings,
  type TestSettings,
} from '../../../loadgen-node/loadgen/settings/test-settings.ts';
import type { SystemUnderTest } from '../../../shared/domain/system-under-test.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { CheckingSut, type CheckingSutOptions } from '../nodes/checking-sut.ts';
import { MemoryQsl } from './memory-qsl.ts';
import { SimulatedClock } from './simulated-clock.ts';

/** Seeds of round v4.1 over LoadGen's defaults. */
export const V41_SETTINGS: TestSettings = {
  ...defaultTestSettings(),
  qslRngSeed: 3066443479025735752n,
  sampleIndexRngSeed: 10688027786191513374n,
  scheduleRngSeed: 14962580496156340209n,
};

/** A test under simulated time. */
export interface SimulatedTest {
  readonly clock: SimulatedClock;
  readonly sut: CheckingSut;
  readonly qsl: MemoryQsl;
  readonly outdir: string;
  readonly run: (other?: Partial<TestSetup>) => Promise<TestOutcome>;
}

/** Sets a test up; `run` runs it to its end. Call it inside a test. */
export function simulatedTest(
  settings: Partial<TestSettings>,
  sutOptions: Partial<CheckingSutOptions> = {},
  qsl: MemoryQsl = new MemoryQsl(100),
): SimulatedTest {
  const clock = new SimulatedClock();
  const sut = new CheckingSut(clock, {
    serviceNs: () => 1_000_000,
    isLoaded: (index) => qsl.isLoaded(index),
    ...sutOptions,
  });
  const outdir = tempFolder();
  const run = (other: Partial<TestSetup> = {}): Promise<TestOutcome> =>
    clock.drive(runTest(partsOf({ sut, qsl, clock, outdir }, settings, other)));
  return { clock, sut, qsl, outdir, run };
}

function partsOf(
  made: { sut: SystemUnderTest; qsl: MemoryQsl; clock: SimulatedClock; outdir: string },
  settings: Partial<TestSettings>,
  other: Partial<TestSetup>,
): TestSetup {
  return {
    sut: made.sut,
    qsl: made.qsl,
    clock: made.clock,
    settings: { ...V41_SETTINGS, ...settings },
    log: { outdir: made.outdir },
    stallTimeoutNs: 30e9,
    drainTimeoutNs: 2e9,
    ...other,
  };
}

/** A line of the detail log. */
export interface DetailLine {
  readonly key: string;
  readonly value: unknown;
  readonly metadata: { readonly is_error: boolean; readonly is_warning: boolean };
}

/** Reads a detail log back; every line must be JSON behind its mark. */
export function readDetailLog(path: string): DetailLine[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    if (!line.startsWith(':::MLLOG ')) throw new Error(`no mark: ${line}`);
    return JSON.parse(line.slice(':::MLLOG '.length)) as DetailLine;
  });
}

/** Texts of the error lines of a detail log. */
export function errorTexts(path: string): string[] {
  return readDetailLog(path)
    .filter((line) => line.metadata.is_error)
    .map((line) => String(line.value));
}
