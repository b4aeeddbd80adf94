import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { freePort } from '../../scenes/host/ports.ts';
import { type Ended, LonghaulProcess } from '../../scenes/host/processes.ts';
import {
  tinyImages,
  writeTinyImagenet,
  writeToyStandin,
} from '../../scenes/simulated-run/data-sets.ts';
import { fakeSutNodes } from '../../scenes/sut-node/fake-sut-node.ts';

// Goal: the script that the rules ask for runs the benchmark on a node of its own, or says why not.
// Method: the real script with five images and a toy model.
const SCRIPT = 'loadgen-node/samples/benchmarks/resnet50/run_and_time.sh';

let data: string;
let model: string;

beforeAll(async () => {
  data = suiteFolder();
  await writeTinyImagenet(data, tinyImages(5));
  model = writeToyStandin(suiteFolder(), 1);
});

function runAndTime(port: number, ...flags: readonly string[]): Promise<Ended> {
  const script = ['sh', SCRIPT, data, model, '--mode', 'accuracy', ...flags];
  return new LonghaulProcess(['env', `PORT=${port}`, ...script]).ended;
}

describe('run_and_time.sh', () => {
  it('runs, tells the time, and ends with the exit code of the run', async () => {
    const output = join(suiteFolder(), 'out');
    const { stdout, code } = await runAndTime(await freePort(), '--output', output);
    // The toy always says class 1.
    expect(stdout).toContain('accuracy=20.000%, good=1, total=5');
    expect(stdout).toMatch(/^Wall-clock time of the run, .*: \d+ s$/m);
    expect(code).toBe(3);
  });

  it('never runs against another node that has its port', async () => {
    const [other] = await fakeSutNodes({ name: 'sut-other', benchmark: 'resnet50' });
    const { stdout, stderr, code } = await runAndTime(Number(other.address.replace(/.*:/, '')));
    expect(other.parts).toEqual([]);
    expect(stdout).toBe('');
    expect(stderr).toContain('the address is already in use');
    expect(code).toBe(6);
  });
});
