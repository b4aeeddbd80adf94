import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../scenes/host/folders.ts';
import { programPath, SYSTEMD_FOLDER } from '../../scenes/host/repository.ts';

// Goal: install.sh refuses what is wrong before it changes anything, shares a prefix with others,
// and takes away what it put there. Method: staged installations by npm, of small packages with the
// name of longhaul's; systemd.test.ts has the real one.

/**
 * Packs a package of a name, with a program "longhaul" that says the name, and no dependency that
 * npm would fetch.
 */
function smallPackage(folder: string, name: string): string {
  const content = join(folder, name, 'package');
  mkdirSync(content, { recursive: true });
  const peers = {
    peerDependencies: { 'onnxruntime-node': '1.2.3' },
    peerDependenciesMeta: { 'onnxruntime-node': { optional: true } },
  };
  const manifest = { name, version: '1.0.0', bin: { longhaul: 'main.js' }, ...peers };
  writeFileSync(join(content, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(content, 'main.js'), `#!/usr/bin/env node\nconsole.log('${name}');\n`);
  const path = join(folder, `of-${name}.tgz`);
  execFileSync('tar', ['-czf', path, '-C', join(folder, name), 'package']);
  return path;
}

const missing = ['npm', 'tar'].find((one) => programPath(one) === undefined);
const why = process.platform === 'linux' ? missing && `needs ${missing}` : 'needs Linux';

function install(...args: string[]) {
  return spawnSync(join(SYSTEMD_FOLDER, 'install.sh'), args, { encoding: 'utf8', timeout: 60_000 });
}

/** Every file and folder below a folder. */
const treeOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

describe.skipIf(why)(`install.sh${why === undefined ? '' : ` (${why})`}`, () => {
  it('leaves a prefix that Node.js lies in as it was', () => {
    const root = tempFolder();
    const bin = join(root, 'usr/local/bin');
    for (const folder of [bin, join(root, 'usr/local/share'), join(root, 'usr/local/lib')])
      mkdirSync(folder, { recursive: true });
    const node = join(bin, 'node');
    symlinkSync(process.execPath, node);
    const before = treeOf(join(root, 'usr'));
    const where = ['--prefix', '/usr/local', '--root', root];
    const path = smallPackage(tempFolder(), 'longhaul');
    for (let i = 0; i < 2; i += 1) {
      const { stderr, stdout, status } = install(
        path,
        '--role',
        'loadgen',
        '--node',
        node,
        ...where,
      );
      expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
      expect(stdout).toMatch(/^longhaul {2}longhaul on Node.js v/m);
    }
    const unit = readFileSync(join(root, 'etc/systemd/system/longhaul-loadgen@.service'), 'utf8');
    const [, started = ''] = /^ExecStart=(\S+) /m.exec(unit) ?? [];
    expect(started).toBe('/usr/local/lib/longhaul/node');
    expect(realpathSync(join(root, started))).toBe(realpathSync(process.execPath));
    expect(install('--uninstall', ...where).status).toBe(0);
    expect(treeOf(join(root, 'usr'))).toEqual(before);
  });

  it('takes a package by a path relative to the folder of whoever calls', () => {
    const [root, path] = [tempFolder(), smallPackage(tempFolder(), 'longhaul')];
    const relative = join(basename(dirname(path)), basename(path));
    const cwd = dirname(dirname(path));
    const script = join(SYSTEMD_FOLDER, 'install.sh');
    const ended = spawnSync(script, [relative, '--role', 'loadgen', '--root', root], {
      cwd,
      encoding: 'utf8',
    });
    expect({ status: ended.status, stderr: ended.stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('installs the other role beside the first, and all of it goes', () => {
    const root = tempFolder();
    const path = smallPackage(tempFolder(), 'longhaul');
    for (const role of ['loadgen', 'loadgen'])
      expect(install(path, '--root', root, '--role', role).status).toBe(0);
    const unit = (role: string): string =>
      join(root, `etc/systemd/system/longhaul-${role}@.service`);
    expect(['sut', 'loadgen'].map((role) => existsSync(unit(role)))).toEqual([false, true]);
    const modules = join(root, 'opt/longhaul/lib/longhaul/node_modules');
    expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['longhaul']);
    expect(install('--uninstall', '--root', root).status).toBe(0);
    expect(existsSync(join(root, 'opt/longhaul'))).toBe(false);
  });

  it('takes no program that somebody else installed', () => {
    const root = tempFolder();
    const path = smallPackage(tempFolder(), 'longhaul');
    const prefix = join(root, 'opt/longhaul');
    spawnSync('npm', ['install', '--global', '--prefix', prefix, path]);
    const before = treeOf(root);
    const { status, stderr } = install(path, '--role', 'loadgen', '--root', root);
    expect(stderr).toMatch(/bin\/longhaul is there, and install.sh did not put it there/);
    expect(status).toBe(2);
    const uninstalled = install('--uninstall', '--root', root);
    expect(uninstalled.stdout).toMatch(/opt\/longhaul install.sh has no package/);
    expect(uninstalled.status).toBe(0);
    expect(treeOf(root)).toEqual(before);
  });
});

/** Stands for the path of {@link somePackage}. */
const PACKAGE = 'PACKAGE';

/** An empty package, as far as the script looks before it changes anything. */
function somePackage(): string {
  const path = join(tempFolder(), 'longhaul-0.1.0.tgz');
  writeFileSync(path, gzipSync(''));
  return path;
}

describe('a wrong word', () => {
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

  it('refuses a package of somebody else, whatever its file is called', () => {
    const folder = tempFolder();
    const root = join(folder, 'root');
    const { status, stderr } = install(smallPackage(folder, 'left-pad'), '--root', root);
    expect(stderr).toMatch(/not a package of longhaul/);
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
