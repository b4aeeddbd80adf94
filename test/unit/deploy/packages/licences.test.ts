import { describe, expect, it } from 'vitest';
import { licencesOf, licenceTable } from '../../../../deploy/packages/licences.ts';
import { installedEntries, type LockEntries } from '../../../../deploy/packages/lock-file.ts';
import { resolvedOverrides } from '../../../../deploy/packages/software-bill.ts';
import { plantedProject } from '../../../support/process/planted-project.ts';

// Goal: every package that an installation has is known by name, version and licence, or the release ends.
// Method: lock files and installed packages of a few lines.

function licencesWith(manifests: Readonly<Record<string, object>>, lock: LockEntries) {
  const files = Object.entries(manifests).map(([path, manifest]) => [
    `${path}/package.json`,
    JSON.stringify(manifest),
  ]);
  return licencesOf(plantedProject(Object.fromEntries(files)), lock);
}

describe('licences', () => {
  const lock = { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '2.0.0' } };

  it('are those of the installed packages, in each form of the field', () => {
    const found = licencesWith(
      {
        'node_modules/a': { license: '(MIT OR Apache-2.0)' },
        'node_modules/b': { licenses: [{ type: 'ISC' }] },
      },
      lock,
    );
    expect(found.map(({ licence }) => licence)).toEqual(['(MIT OR Apache-2.0)', 'ISC']);
  });

  it('are those of the lock file for what other systems install', () => {
    const entries = { 'node_modules/@s/far': { version: '1.0.0', license: 'MIT' } };
    const far = { name: '@s/far', version: '1.0.0', licence: 'MIT', isElsewhere: true };
    expect(licencesWith({}, entries)).toEqual([far]);
    expect(licenceTable(new Map([['one', [far]]]))).toContain(
      '| @s/far | 1.0.0 | MIT | one (other systems) |',
    );
  });

  it('that are missing or that nobody has looked at end the release, and name all such packages', () => {
    const manifests = {
      'node_modules/a': {},
      'node_modules/b': { license: 'SEE LICENSE IN file' },
    };
    expect(() => licencesWith(manifests, lock)).toThrow(
      'a@1.0.0 says no licence; b@2.0.0 has the licence "SEE LICENSE IN file"',
    );
  });
});

describe('what an installation has', () => {
  const lock: LockEntries = {
    'node_modules/a': { version: '1.0.0', dependencies: { b: '*' }, peerDependencies: { p: '*' } },
    'node_modules/a/node_modules/b': { version: '1.0.0', dependencies: { c: '*' } },
    'node_modules/b': { version: '2.0.0' },
    'node_modules/c': { version: '1.0.0', optionalDependencies: { far: '*' } },
    'node_modules/p': { version: '1.0.0' },
    'node_modules/unused': { version: '1.0.0' },
  };

  it('is found by the nearest node_modules upwards, with peers, without what is optional and absent', () => {
    const wanted = { dependencies: { a: '1.0.0' }, optionalDependencies: { gone: '1.0.0' } };
    expect(Object.keys(installedEntries(lock, wanted))).toEqual([
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/c',
      'node_modules/p',
    ]);
  });

  it('may not lack what is required', () => {
    const wanted = { dependencies: { gone: '1.0.0' }, optionalDependencies: {} };
    expect(() => installedEntries(lock, wanted)).toThrow(
      'gone, which the package needs, is not in package-lock.json',
    );
  });

  it('follows overrides that mean the version of another dependency', () => {
    expect(resolvedOverrides({ a: { b: '$c' }, d: '3.0.0' }, lock)).toEqual({
      a: { b: '1.0.0' },
      d: '3.0.0',
    });
  });
});
