import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { programPath, SYSTEMD_FOLDER } from '../support/deploy/systemd-unit.ts';
import { smallPackage } from '../support/process/small-package.ts';
import { tempFolder } from '../support/process/temp-folder.ts';

// Goal: install.sh shares a prefix with others and takes away what it put there, and one package makes way for another.
// Method: staged installations by npm, of small packages with the names of longhaul's; test/deploy/systemd.test.ts has the real one.

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
    const path = smallPackage(tempFolder(), 'longhaul-sut');
    for (let i = 0; i < 2; i += 1) {
      const { stderr, stdout, status } = install(path, '--node', node, ...where);
      expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
      expect(stdout).toMatch(/^longhaul {2}longhaul-sut on Node.js v/m);
    }
    const unit = readFileSync(join(root, 'etc/systemd/system/longhaul-sut@.service'), 'utf8');
    const [, started = ''] = /^ExecStart=(\S+) /m.exec(unit) ?? [];
    expect(started).toBe('/usr/local/lib/longhaul/node');
    expect(realpathSync(join(root, started))).toBe(realpathSync(process.execPath));
    expect(install('--uninstall', ...where).status).toBe(0);
    expect(treeOf(join(root, 'usr'))).toEqual(before);
  });

  it('takes a package by a path relative to the folder of whoever calls', () => {
    const [root, path] = [tempFolder(), smallPackage(tempFolder(), 'longhaul-sut')];
    const relative = join(basename(dirname(path)), basename(path));
    const cwd = dirname(dirname(path));
    const script = join(SYSTEMD_FOLDER, 'install.sh');
    const ended = spawnSync(script, [relative, '--root', root], { cwd, encoding: 'utf8' });
    expect({ status: ended.status, stderr: ended.stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('puts the whole package in the place of a half, and no half in the place of one that is needed', () => {
    const root = tempFolder();
    const folder = tempFolder();
    const [sut, loadgen, whole] = ['longhaul-sut', 'longhaul-loadgen', 'longhaul'].map((name) =>
      smallPackage(folder, name),
    ) as [string, string, string];
    expect(install(sut, '--root', root).status).toBe(0);
    const { status, stderr } = install(loadgen, '--root', root);
    expect(stderr).toMatch(
      /longhaul-sut@.service is installed here and needs what longhaul-loadgen/,
    );
    expect(status).toBe(2);
    expect(install(whole, '--root', root).status).toBe(0);
    expect(readdirSync(join(root, 'opt/longhaul/lib/node_modules'))).toEqual(['longhaul']);
    expect(install('--uninstall', '--root', root).status).toBe(0);
    expect(existsSync(join(root, 'opt/longhaul'))).toBe(false);
  });

  it('takes no program that somebody else installed', () => {
    const root = tempFolder();
    const path = smallPackage(tempFolder(), 'longhaul');
    const prefix = join(root, 'opt/longhaul');
    spawnSync('npm', ['install', '--global', '--prefix', prefix, path]);
    const before = treeOf(root);
    const { status, stderr } = install(path, '--root', root);
    expect(stderr).toMatch(/bin\/longhaul is there, and install.sh did not put it there/);
    expect(status).toBe(2);
    const uninstalled = install('--uninstall', '--root', root);
    expect(uninstalled.stdout).toMatch(/opt\/longhaul install.sh has no package/);
    expect(uninstalled.status).toBe(0);
    expect(treeOf(root)).toEqual(before);
  });
});
