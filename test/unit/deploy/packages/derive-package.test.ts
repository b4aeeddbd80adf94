import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { derivePackages, writePackage } from '../../../../deploy/packages/derive-package.ts';
import type { Role } from '../../../../deploy/packages/roles.ts';
import { plantedProject } from '../../../support/process/planted-project.ts';
import { tempFolder } from '../../../support/process/temp-folder.ts';

// Goal: a package depends on what it imports, in the versions that were tested, and on nothing that it may not have.
// Method: small compiled projects with one file planted.

const ONE = 'dist/loadgen-node/cli/one.js';
const WHOLE: Role = {
  name: 'whole',
  about: 'all of it',
  verbs: 'all',
  isLibrary: true,
  readme: undefined,
  pages: 'all',
  optional: [],
  leftOut: [],
  forbidden: [],
};
const SMALL: Role = {
  ...WHOLE,
  name: 'small',
  verbs: ['two-b'],
  isLibrary: false,
  pages: 'named',
};

function derive(files: Readonly<Record<string, string>>, roles: readonly Role[]) {
  const root = plantedProject(files);
  const packed = ['package.json', 'README.md', 'LICENSE', 'docs/a.md', 'docs/b.md'];
  return { root, derived: derivePackages({ root, packed, revision: 'abc' }, roles) };
}

describe('package.json of a package', () => {
  it('has the locked versions of what is imported, and says which verbs are elsewhere', () => {
    const { derived } = derive({}, [WHOLE, SMALL]);
    expect(derived.map(({ manifest }) => manifest)).toMatchObject([
      { name: 'whole', version: '1.2.3', dependencies: { zod: '4.6.7' }, longhaul: { lacks: {} } },
      {
        name: 'small',
        dependencies: {},
        longhaul: { revision: 'abc', lacks: { one: ['whole'] } },
      },
    ]);
    expect(derived[0]?.manifest.dependencies).not.toHaveProperty('@x/y');
  });

  it('has what may be absent among the optional, and what is left out as an optional peer', () => {
    const files = { [ONE]: "import 'zod'; import('@x/y');" };
    const roles = [
      { ...WHOLE, optional: ['@x/y'] },
      { ...WHOLE, name: 'less', leftOut: ['@x/y'] },
    ];
    expect(derive(files, roles).derived.map(({ manifest }) => manifest)).toMatchObject([
      { dependencies: { zod: '4.6.7' }, optionalDependencies: { '@x/y': '1.0.1' } },
      {
        dependencies: { zod: '4.6.7' },
        optionalDependencies: {},
        peerDependencies: { '@x/y': '1.0.1' },
        peerDependenciesMeta: { '@x/y': { optional: true } },
      },
    ]);
  });
});

describe('a package that may not be', () => {
  it('imports what is installed here by chance and is not among the dependencies', () => {
    expect(() => derive({ [ONE]: "\n\nimport 'stray';" }, [WHOLE])).toThrow(
      'loadgen-node/cli/one.js:3 imports stray, which is not among the dependencies',
    );
  });

  it('holds a file, or depends on a package, that its role forbids: the way to it is named', () => {
    const files = { 'dist/loadgen-node/cli/two.js': "import './one.js';" };
    const engine = { ...SMALL, forbidden: ['loadgen-node/cli/one'] };
    expect(() => derive(files, [engine])).toThrow(
      'small: it may not hold loadgen-node/main.js -> loadgen-node/cli/verbs.js -> ' +
        'loadgen-node/cli/two.js -> loadgen-node/cli/one.js',
    );
    expect(() => derive(files, [{ ...SMALL, forbidden: ['zod'] }])).toThrow(
      'small: it may not depend on zod, which loadgen-node/cli/one.js:1 imports',
    );
  });

  it('comes without a package that one of its files imports before it is needed', () => {
    expect(() => derive({}, [{ ...WHOLE, leftOut: ['zod'] }])).toThrow(
      'whole: it comes without zod, so loadgen-node/cli/one.js:1 may not import it statically',
    );
  });
});

it('writes the files of a package, with the pages that they name', () => {
  const files = {
    'dist/loadgen-node/cli/two.js': '// See docs/b.md',
    'docs/a.md': 'a',
    'docs/b.md': 'b',
  };
  const { root, derived } = derive(files, [WHOLE, SMALL]);
  const [, small] = derived;
  if (small === undefined) throw new Error('nothing was derived');
  const folder = tempFolder();
  writePackage({ root, packed: [], revision: 'abc' }, small, folder);
  const isThere = (file: string): boolean => existsSync(join(folder, file));
  expect(['LICENSE', 'docs/b.md', 'dist/loadgen-node/cli/two.js'].filter(isThere)).toHaveLength(3);
  expect(['docs/a.md', ONE].filter(isThere)).toEqual([]);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object;
  expect(manifest).toMatchObject({ name: 'small', bin: { planted: 'dist/loadgen-node/main.js' } });
});
