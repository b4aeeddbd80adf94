import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MANIFESTS, whyNoKubectl } from '../../support/deploy/kubernetes/render.ts';
import { tempFolder } from '../../support/process/temp-folder.ts';

// Goal: who runs the commands of deploy/kubernetes/README.md sees the Job's end, whichever it is. Method: they are run over what a Job
// says one after the other, with kubectl's own evaluation of the expression (--local), and a sleep that takes no time.

const why = whyNoKubectl();

/** A Job as it is after the resume, shortly before its end, and after it. */
function jobs(end: string): readonly string[] {
  const is = (type: string, status = 'True') => ({ type, status });
  const before = end === 'Failed' ? 'FailureTarget' : 'SuccessCriteriaMet';
  const all = [is('Suspended', 'False'), is(before), is(end)];
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' } };
  return [1, 2, 3].map((said) =>
    JSON.stringify({ ...job, status: { conditions: all.slice(0, said) } }),
  );
}

describe.skipIf(why)(
  `the commands of deploy/kubernetes/README.md${why === undefined ? '' : ` (${why})`}`,
  () => {
    test.each(['Complete', 'Failed'])('end where the Job is %s', (end) => {
      const readme = readFileSync(join(MANIFESTS, 'README.md'), 'utf8');
      const loops = readme.match(/^until kubectl .*?; done$/gms) ?? [];
      expect(loops).toHaveLength(2);
      const folder = tempFolder();
      for (const [turn, job] of jobs(end).entries())
        writeFileSync(join(folder, `${turn}.json`), job);
      // Answers "-n longhaul get job/longhaul-loadgen -o FORMAT" from the file whose turn it is; each sleep is a turn.
      const fakes = `cd ${folder}; turn=0
        sleep() { turn=$((turn + 1)); [ $turn -lt 3 ] || exit 9; }
        kubectl() { shift 4; command kubectl annotate --local --filename $turn.json a=b "$@"; }`;
      for (const loop of loops) {
        const script = `${fakes}\n${loop}\necho "turn $turn"`;
        const { stdout, stderr, status } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
        expect(stdout.split('\n')).toEqual([expect.stringContaining(end), 'turn 2', '']);
      }
    });
  },
);
