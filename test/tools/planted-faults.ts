import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type PlantedFault, readPlantedFaults } from './planted-faults-list.ts';

// `npm run test:planted [-- --only ID ...] [--all]`: plants each fault of planted-faults.yaml in a
// copy of the project and looks whether the tests find it: those of `npm test`, and with --all
// those of `npm run test:all` where the former do not. Prints a table; exit code 1 where a fault
// was not found. An hour or two on 2 cores.

/**
 * Longest time of a run of tests, in s, about twice what it takes: a fault may make one go on for
 * ever, which finds it.
 */
const QUICK_S_MAX = 240;
const REST_S_MAX = 600;

/** Made by the build or by npm: linked into the copy, which builds its own dist. */
const NOT_COPIED = ['node_modules', 'dist', '.git', 'results'];

const QUICK = ['unit', 'mocking', 'conformance', 'smoke'];
const REST = ['slow', 'integration', 'alone'];

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, all: { type: 'boolean' } },
});

const root = process.cwd();
const faults = readPlantedFaults(root);
const unknown = values.only?.filter((only) => faults.every(({ id }) => id !== only)) ?? [];
if (unknown.length > 0) throw new Error(`no fault has the id "${unknown.join('" or "')}"`);
const chosen = faults.filter(({ id }) => values.only?.includes(id) ?? true);
const copy = mkdtempSync(join(tmpdir(), 'planted-'));
try {
  cpSync(root, copy, {
    recursive: true,
    filter: (path) => !NOT_COPIED.some((name) => path === join(root, name)),
  });
  run('ln', ['-s', join(root, 'node_modules'), 'node_modules']);
  let unfound = 0;
  console.log('| fault | room | found by | test | s |\n|---|---|---|---|---:|');
  for (const fault of chosen) unfound += tryFault(fault) ? 0 : 1;
  console.log(`\n${chosen.length - unfound} of ${chosen.length} found`);
  process.exitCode = unfound === 0 ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/**
 * Plants a fault, looks for it and takes it out again. @returns True where a test or the compiler
 * found it.
 */
function tryFault(fault: PlantedFault): boolean {
  const path = join(copy, fault.file);
  const beginMs = performance.now();
  writeFileSync(path, fault.planted);
  try {
    const [by, test] = find(fault);
    const seconds = Math.round((performance.now() - beginMs) / 1000);
    const room = fault.file.split('/').slice(0, 2).join('/');
    console.log(`| ${fault.id} | ${room} | ${by} | ${test} | ${seconds} |`);
    return by !== 'nothing';
  } finally {
    writeFileSync(path, fault.text);
  }
}

function find({ file }: PlantedFault): readonly [by: string, test: string] {
  const built = run('npm', ['run', '--silent', 'build']);
  if (built.status !== 0) return ['compiler', ''];
  // First the tests that import the file: most faults are found there, in seconds.
  const related = failingTest(['related', file, '--run'], QUICK, QUICK_S_MAX);
  if (related !== undefined) return ['npm test', related];
  const quick = failingTest(['run'], QUICK, QUICK_S_MAX);
  if (quick !== undefined) return ['npm test', quick];
  const rest = values.all === true ? failingTest(['run'], REST, REST_S_MAX) : undefined;
  return rest === undefined ? ['nothing', ''] : ['test:all', rest];
}

/** The first test that fails; undefined where none does. */
function failingTest(
  args: readonly string[],
  projects: readonly string[],
  limitS: number,
): string | undefined {
  const report = join(copy, 'planted-report.json');
  rmSync(report, { force: true });
  const chosen = projects.flatMap((name) => ['--project', name]);
  const output = ['--reporter=json', `--outputFile=${report}`, '--bail', '1', '--passWithNoTests'];
  const vitest = ['npx', 'vitest', ...args, ...chosen, ...output];
  // With all of its children: a worker that never comes back hears no other signal.
  const { status } = run('timeout', ['--signal', 'KILL', String(limitS), ...vitest]);
  return status === 0 ? undefined : nameOfFailure(report, limitS);
}

function nameOfFailure(report: string, limitS: number): string {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    for (const { assertionResults, name } of testResults) {
      const failed = assertionResults.find(({ status }: { status: string }) => status === 'failed');
      if (failed !== undefined) return `${name.slice(copy.length + 1)}: ${failed.fullName}`;
    }
  } catch {
    // The run has no report: it was killed.
  }
  return `the run did not end in order, within ${limitS} s`;
}

function run(command: string, args: readonly string[]): { readonly status: number | null } {
  return spawnSync(command, args, { cwd: copy, stdio: 'ignore' });
}
