import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closureOf } from '../../../../deploy/packages/closure.ts';
import { plantedProject } from '../../../support/process/planted-project.ts';

// Goal: what a package must hold follows from what its files load, in every way in which they do that; what is
// missing or not known is found before it is packed. Method: small compiled projects with one file planted.

const MAIN = 'loadgen-node/main.js';
const ONE = 'dist/loadgen-node/cli/one.js';

function closureWith(
  files: Readonly<Record<string, string>>,
  verbs: readonly string[] | 'all' = 'all',
) {
  return closureOf(join(plantedProject(files), 'dist'), { files: [MAIN], verbs });
}

describe('the closure of a package', () => {
  it('has what the rows of its verbs load, and not what those of other verbs do', () => {
    const all = closureWith({});
    expect(all.verbs).toEqual(['one', 'two-b']);
    expect(all.files).toContain('loadgen-node/cli/one.js');
    const second = closureWith({}, ['two-b']);
    expect(second.verbs).toEqual(['two-b']);
    expect(second.files).toEqual(['loadgen-node/cli/two.js', 'loadgen-node/cli/verbs.js', MAIN]);
    expect(second.packages).toEqual([]);
  });

  it('follows imports, exports from elsewhere, imports on demand and paths of threads', () => {
    const { files, wayTo } = closureWith({
      [ONE]: [
        "import a from '../a.js'; export { b } from '../b.js'; export * from '../c.js';",
        "const later = () => import('../d.js');",
        "new Worker(compiledModule('sut-node/workers/thread.js'));",
        "runFitThread('sut-node/fit.js', {});",
      ].join('\n'),
      ...Object.fromEntries(['a', 'b', 'c', 'd'].map((x) => [`dist/loadgen-node/${x}.js`, ''])),
      'dist/sut-node/workers/thread.js': "import '../deep.js';",
      'dist/sut-node/deep.js': '',
      'dist/sut-node/fit.js': '',
    });
    expect(files).toEqual(
      expect.arrayContaining([
        ...['a', 'b', 'c', 'd'].map((x) => `loadgen-node/${x}.js`),
        'sut-node/deep.js',
        'sut-node/fit.js',
      ]),
    );
    expect(wayTo('sut-node/deep.js').slice(-3)).toEqual([
      'loadgen-node/cli/one.js',
      'sut-node/workers/thread.js',
      'sut-node/deep.js',
    ]);
  });

  it('has the code of every benchmark beside the file that loads them', () => {
    const { files } = closureWith({
      [ONE]: "import '../../sut-node/benchmarks/registry.js';",
      'dist/sut-node/benchmarks/registry.js':
        'export const load = (key) => loadBenchmarkModule(key, import.meta.url, "");',
      'dist/sut-node/benchmarks/digits/benchmark.js': "import './model.js';",
      'dist/sut-node/benchmarks/digits/model.js': '',
      'dist/sut-node/benchmarks/custom/benchmark.js': '',
      'dist/sut-node/benchmarks/custom/unused.js': '',
    });
    expect(files.filter((file) => file.includes('benchmarks/'))).toEqual([
      'sut-node/benchmarks/custom/benchmark.js',
      'sut-node/benchmarks/digits/benchmark.js',
      'sut-node/benchmarks/digits/model.js',
      'sut-node/benchmarks/registry.js',
    ]);
  });

  it('names packages without the path inside them, and says which can be loaded late', () => {
    const text = [
      "import { z } from 'zod/v4'; import { readFileSync } from 'node:fs'; import path from 'path';",
      "const late = () => import('@x/y/z.js');",
      "require('lz4');",
    ].join('\n');
    expect(closureWith({ [ONE]: text }).packages).toEqual([
      { name: '@x/y', from: 'loadgen-node/cli/one.js:2', isLazy: true },
      { name: 'lz4', from: 'loadgen-node/cli/one.js:3', isLazy: true },
      { name: 'zod', from: 'loadgen-node/cli/one.js:1', isLazy: false },
    ]);
  });

  it('follows the types of a library to the files that declare them', () => {
    const root = plantedProject({
      'dist/loadgen-node/index.d.ts': "export type { A } from './a.ts';",
      'dist/loadgen-node/a.d.ts': "export type A = import('../shared/b.ts').B | import('@x/y').Y;",
      'dist/shared/b.d.ts': 'export type B = 1;',
    });
    const roots = { files: ['loadgen-node/index.d.ts'], verbs: 'all' } as const;
    const { files, packages } = closureOf(join(root, 'dist'), roots);
    expect(files).toEqual(['loadgen-node/a.d.ts', 'loadgen-node/index.d.ts', 'shared/b.d.ts']);
    expect(packages.map(({ name }) => name)).toEqual(['@x/y']);
  });
});

describe('a package that could not run', () => {
  it('is found by a file that is named and not there, with the line that names it', () => {
    expect(() => closureWith({ [ONE]: "\nimport './gone.js';" })).toThrow(
      /cli\/gone\.js is missing: loadgen-node\/cli\/one\.js:2 names it/,
    );
    const thread = "new Worker(compiledModule('sut-node/workers/gone.js'));";
    expect(() => closureWith({ [ONE]: thread })).toThrow(/sut-node\/workers\/gone\.js is missing/);
  });

  it('is found by a path that is computed where nobody has said how', () => {
    expect(() => closureWith({ [ONE]: 'const load = (x) => import(x);' })).toThrow(
      /one\.js:1 loads a path that is computed/,
    );
    const named =
      "const { href } = compiledModule('loadgen-node/cli/two.js');\nawait import(href);";
    expect(closureWith({ [ONE]: named }, ['one']).files).toContain('loadgen-node/cli/two.js');
  });

  it('is found by a verb that there is not', () => {
    expect(() => closureWith({}, ['one', 'tow'])).toThrow(
      'there is no verb tow; there is: one, two-b',
    );
  });
});

it('reaches every compiled file of this project that has code, from all verbs and the library', () => {
  const root = join(import.meta.dirname, '..', '..', '..', '..');
  const dist = join(root, 'dist');
  const roots = { files: [MAIN, 'loadgen-node/index.js'], verbs: 'all' } as const;
  const { files } = closureOf(dist, roots);
  const reached = new Set(files);
  const hasCode = (file: string): boolean =>
    // A folder of built files may still have some whose source is gone; types alone leave an empty module.
    existsSync(join(root, file.replace(/\.js$/, '.ts'))) &&
    !/^(?:\/\*[\s\S]*?\*\/\s*|\/\/.*\n)*export \{\};\s*(?:\/\/.*\s*)?$/.test(
      readFileSync(join(dist, file), 'utf8'),
    );
  const unreached = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll(sep, '/'))
    .filter((file) => file.endsWith('.js') && !/^(?:test|deploy|proto\/gen)\//.test(file))
    .filter((file) => !reached.has(file) && hasCode(file));
  expect(unreached).toEqual([]);
});
