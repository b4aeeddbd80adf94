import { expect } from 'vitest';
import { suiteFolder, testCacheFolder } from '../host/folders.ts';
import { WarmLonghaul } from '../host/processes.ts';
import { readRunLogs } from './run-logs.ts';

/**
 * A run that would outlast its test, with short times for everything that waits: no busy machine
 * takes so long for an answer.
 */
export function startLongRun(options: {
  readonly addresses: string;
  readonly dataFolder: string;
  readonly flags?: readonly string[];
}): { readonly run: WarmLonghaul; readonly output: string } {
  const { addresses, dataFolder, flags = [] } = options;
  const output = suiteFolder();
  const run = new WarmLonghaul([
    ...['run', '--sut', addresses, '--benchmark', 'digits', '--data-dir', dataFolder],
    ...['--target-qps', '200', '--min-duration', '600s', '--stall-timeout', '10s'],
    ...['--keepalive-time', '500ms', '--keepalive-timeout', '4s', '--output', output],
    ...['--cache-dir', testCacheFolder(), ...flags],
  ]);
  return { run, output };
}

/**
 * Waits for the end of a run that a fault spoils, and checks what holds for every fault: it ends,
 * INVALID, with whole logs, without a stack, and every issued sample is either completed or lost.
 */
export async function endOfSpoiledRun({ run, output }: ReturnType<typeof startLongRun>) {
  const ended = await run.ended;
  const { code, stdout, stderr } = ended;
  expect(stderr).not.toMatch(/\n\s+at /);
  expect({ code, stdout }).toMatchObject({ code: 3 });
  expect(stdout).toMatch(/^INVALID /m);
  const logs = readRunLogs(output);
  expect(logs.errors).not.toEqual([]);
  expect(logs.summary).toMatch(/Result is : INVALID/);
  const match = /(\d+) samples issued, (\d+) completed, (\d+) lost/.exec(stdout) ?? [];
  const [issued = 0, completed = 0, lost = 0] = match.slice(1).map(Number);
  expect(issued).toBeGreaterThan(0);
  expect(completed + lost).toBe(issued);
  return { ...ended, issued, completed, lost };
}
