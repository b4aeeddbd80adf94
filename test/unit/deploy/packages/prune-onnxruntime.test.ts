import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { plantedProject } from '../../../support/process/planted-project.ts';

// Goal: pruning leaves what this machine needs, in every copy, or deletes nothing. Method: folders of the form of
// ONNX Runtime's package, and the real program.

const program = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  '..',
  'deploy',
  'packages',
  'prune-onnxruntime.mjs',
);
const HERE = `bin/napi-v6/${process.platform}/${process.arch}`;
const OTHERS = ['bin/napi-v6/plan9/mips', `bin/napi-v6/${process.platform}/mips`];
const COPIES = ['onnxruntime-node', '@s/x/node_modules/onnxruntime-node'];

function prune(args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function installed(folders: readonly string[], names: readonly string[]): string {
  const files = COPIES.flatMap((copy) =>
    folders.flatMap((folder) =>
      names.map((name) => [`node_modules/${copy}/${folder}/${name}`, 'library']),
    ),
  );
  return join(plantedProject(Object.fromEntries(files)), 'node_modules');
}

it('keeps the libraries of this machine in every copy, and says what it gave back', () => {
  const names = ['onnxruntime_binding.node', 'libonnxruntime.so.1'];
  const modules = installed([HERE, ...OTHERS], names);
  const isThere = (folder: string): boolean[] =>
    COPIES.map((copy) => existsSync(join(modules, copy, folder)));
  expect(prune([modules, '--dry-run'])).toMatchObject({ status: 0, stderr: '' });
  expect(OTHERS.flatMap(isThere)).toEqual([true, true, true, true]);
  const { status, stdout } = prune([modules]);
  expect({ status, lines: stdout.match(/gave back/g)?.length }).toEqual({ status: 0, lines: 2 });
  expect(OTHERS.flatMap(isThere)).toEqual([false, false, false, false]);
  expect(isThere('bin/napi-v6/plan9')).toEqual([false, false]);
  expect(isThere(`${HERE}/libonnxruntime.so.1`)).toEqual([true, true]);
});

it('deletes nothing where what it would keep is not complete, or not there', () => {
  const half = installed([HERE, ...OTHERS], ['onnxruntime_binding.node']);
  expect(prune([half])).toMatchObject({
    status: 6,
    stderr: expect.stringMatching(/lacks the library of ONNX Runtime itself; nothing was deleted/),
  });
  expect(existsSync(join(half, 'onnxruntime-node', 'bin/napi-v6/plan9'))).toBe(true);
  expect(prune([installed(OTHERS, ['onnxruntime_binding.node'])])).toMatchObject({
    status: 6,
    stderr: expect.stringMatching(/has no libraries for/),
  });
});

it.each([
  [[], 2, 'give one folder'],
  [['--fast', 'node_modules'], 2, 'unknown option --fast'],
  [[import.meta.dirname], 2, 'is not named node_modules'],
  [[join(import.meta.dirname, 'node_modules')], 6, 'is not there'],
] as const)('says what is wrong with %j', (args, status, text) => {
  expect(prune(args)).toMatchObject({ status, stderr: expect.stringContaining(text) });
});
