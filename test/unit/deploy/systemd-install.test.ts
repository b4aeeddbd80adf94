import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SYSTEMD_FOLDER } from '../../support/deploy/systemd-unit.ts';
import { smallPackage } from '../../support/process/small-package.ts';
import { tempFolder } from '../../support/process/temp-folder.ts';

// Goal: whoever installs with a wrong word or a wrong Node.js is told so before anything is changed.
// Method: the script itself with such words; a real installation is a matter of `npm run test:deploy`.

function install(...args: string[]) {
  const { status, stderr } = spawnSync(join(SYSTEMD_FOLDER, 'install.sh'), args, {
    encoding: 'utf8',
  });
  return { status, stderr };
}

/** Stands for the path of {@link somePackage}. */
const PACKAGE = 'PACKAGE';

/** An empty package, as far as the script looks before it changes anything. */
function somePackage(): string {
  const path = join(tempFolder(), 'longhaul-sut-0.1.0.tgz');
  writeFileSync(path, gzipSync(''));
  return path;
}

describe('install.sh', () => {
  it.each<[string, string[], RegExp]>([
    ['no package', [], /the package is missing/],
    ['a package that is not there', ['no.tgz'], /^install.sh: no.tgz: no such file/],
    ['a package that is none', [join(SYSTEMD_FOLDER, 'sut.env')], /not a package of npm/],
    ['two packages', ['a.tgz', 'b.tgz'], /"a.tgz" and "b.tgz" are two/],
    ['an unknown flag', ['--force'], /"--force" is no flag of this script/],
    ['a flag without its value', ['--prefix'], /--prefix needs a value/],
    ['an unknown role', [PACKAGE, '--role', 'client'], /--role client: sut, loadgen or both/],
    ['a prefix with a space', [PACKAGE, '--prefix', '/opt/long haul'], /absolute path of letters/],
    ['a prefix that units do not see', [PACKAGE, '--prefix', '/home/me/longhaul'], /do not see/],
    ['--purge alone', [PACKAGE, '--purge'], /--purge goes with --uninstall/],
    ['a package to take away', ['--uninstall', 'a.tgz'], /--uninstall takes no package/],
  ])('refuses %s', (_case, args, text) => {
    const { status, stderr } = install(
      ...args.map((arg) => (arg === PACKAGE ? somePackage() : arg)),
    );
    expect(stderr).toMatch(text);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(status).toBe(2);
  });

  it.each([
    [
      'is of somebody else',
      'left-pad',
      [],
      /not a package of longhaul \(it calls itself "left-pad"\)/,
    ],
    ['has one role of two', 'longhaul-sut', ['--role', 'both'], /longhaul-sut is for the role sut/],
    ['has the other role', 'longhaul-loadgen', ['--role', 'sut'], /is for the role loadgen/],
  ])('refuses a package that %s, whatever its file is called', (_case, name, args, text) => {
    const folder = tempFolder();
    const root = join(folder, 'root');
    const { status, stderr } = install(smallPackage(folder, name), '--root', root, ...args);
    expect(stderr).toMatch(text);
    expect(status).toBe(2);
    expect(existsSync(root)).toBe(false);
  });

  it.each([
    ['one that is too old', 'v20.18.3', /is v20.18.3; 20.19 or later is needed/],
    ['one that says nonsense', 'hello', /which is no version/],
  ])('refuses a Node.js: %s', (_case, version, text) => {
    const folder = tempFolder();
    const node = join(folder, 'node');
    writeFileSync(node, `#!/bin/sh\necho ${version}\n`);
    chmodSync(node, 0o755);
    const { status, stderr } = install(
      somePackage(),
      '--root',
      join(folder, 'root'),
      '--node',
      node,
    );
    expect(stderr).toMatch(text);
    expect(status).toBe(6);
  });
});
