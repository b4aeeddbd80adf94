import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { burn, LOADGEN_CORE, runPinned, SUT_CORE, startPinnedSut, whyNotPinned } from './pinned.ts';

// Goal: a run whose LoadGen is starved is called generator-bound, with the cause; one whose SUT is
// slow is not. Method: real processes, each node on a core of its own, burners on the one or the
// other. By `npm run test:outside why`.

const why = whyNotPinned();
const NO_DELAY = ['--benchmark', 'delay', '--delay-model', 'fixed:1ms'];
/** 200 samples per second at most. */
const SLOW = [
  '--benchmark',
  'delay',
  '--delay-model',
  'exponential:5ms',
  '--delay-concurrency',
  '1',
];
const SECONDS = ['--min-duration', '4s'];
const SERVER = ['--scenario', 'Server', '--target-qps', '400', ...SECONDS];
const BLOCKER = ['--import', pathToFileURL(join(import.meta.dirname, 'blocker.mjs')).href];

const title = (text: string): string => (why === undefined ? text : `${text} (skipped: ${why})`);

describe.skipIf(why !== undefined)(title('generator-bound'), () => {
  it('is a run whose LoadGen shares its core with burners', async () => {
    const { address } = await startPinnedSut(...NO_DELAY);
    burn(LOADGEN_CORE, 3);
    const { stdout, code } = await runPinned(address, [...SERVER, '--target-latency', '15ms']);
    // As one line: the screen breaks it anywhere.
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /generator-bound: .*other work held its core: .*waited \d+ % of the time/,
    );
    expect(code).toBe(3);
  });

  it.each([
    ['Server', [...SERVER, '--target-latency', '15ms'], /went out late/],
    ['SingleStream', ['--scenario', 'SingleStream', ...SECONDS], /late in the median/],
  ])('is a run of %s whose LoadGen is held up from within', async (_scenario, flags, reason) => {
    const { address } = await startPinnedSut(...NO_DELAY);
    const { stdout, code } = await runPinned(address, flags, BLOCKER);
    expect(stdout).toMatch(reason);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /something in its process held up the event loop/,
    );
    expect(code).toBe(3);
  });

  it('is not a run whose SUT has twice the load that it can take', async () => {
    const { address } = await startPinnedSut(...SLOW);
    const { stdout, code } = await runPinned(address, [...SERVER, '--target-latency', '200ms']);
    expect(stdout).toMatch(/^INVALID .*: the SUT did not keep up: /);
    expect(stdout).not.toContain('generator-bound');
    expect(stdout).toMatch(/Of that, queue .* grows by/);
    expect(code).toBe(3);
  });

  it.each([
    ['Server', [...SERVER, '--target-latency', '200ms']],
    ['SingleStream', ['--scenario', 'SingleStream', ...SECONDS]],
    ['Offline', ['--scenario', 'Offline', '--target-qps', '1000', ...SECONDS]],
  ])('is not a run of %s whose SUT shares its core with burners', async (_scenario, flags) => {
    const { address } = await startPinnedSut(...NO_DELAY, '--delay-concurrency', '1');
    burn(SUT_CORE, 3);
    const { stdout } = await runPinned(address, flags);
    expect(stdout).toMatch(/^Time +typical/m);
    expect(stdout).not.toContain('generator-bound');
  });
});
