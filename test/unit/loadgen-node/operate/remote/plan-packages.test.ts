import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from 'tar';
import { describe, expect, it } from 'vitest';
import type { Inventory } from '../../../../../loadgen-node/operate/remote/inventory/inventory.ts';
import { readInventory } from '../../../../../loadgen-node/operate/remote/inventory/read-inventory.ts';
import { Packages } from '../../../../../loadgen-node/operate/remote/packages/plan-packages.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { SUT_OPTIONS } from '../../../../../sut-node/settings/sut-options.ts';
import { tempFolder } from '../../../../support/process/temp-folder.ts';

const versionHere = (name: string): string => {
  const text = readFileSync(join('node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
};

/** An inventory whose hosts get a copy of a tarball with these dependencies. */
function copyOf(dependencies: Record<string, string>): Inventory {
  const folder = tempFolder();
  mkdirSync(join(folder, 'package'));
  const document = { name: 'longhaul', version: '0.1.0', bin: 'dist/main.js', dependencies };
  writeFileSync(join(folder, 'package', 'package.json'), JSON.stringify(document));
  create({ file: join(folder, 'p.tgz'), gzip: true, sync: true, cwd: folder }, ['package']);
  const text = `
package: p.tgz
install: copy
loadgen: { ssh: lg }
sut: [{ ssh: a, node: sut-a, address: "a:50051" }]
sutSettings: { benchmark: "null" }
`;
  writeFileSync(join(folder, 'hosts.yaml'), text);
  const tables = { run: RUN_SETTINGS, sut: SUT_OPTIONS, runFlags: {} };
  return readInventory(join(folder, 'hosts.yaml'), tables);
}

const bundles = (): string[] =>
  readdirSync(tmpdir()).filter((one) => /^longhaul-bundle-/.test(one));

describe('a tarball with the dependencies of this installation', () => {
  it('may name the exact versions that are installed here, as a release does', async () => {
    const inventory = copyOf({ yaml: versionHere('yaml'), zod: `^${versionHere('zod')}` });
    const packages = await Packages.plan(inventory);
    expect(packages.of(inventory.loadgen.source)).toMatchObject({ how: 'copy' });
  });

  it('is refused where it needs another version, in one line that names both', async () => {
    const here = versionHere('yaml');
    await expect(Packages.plan(copyOf({ yaml: '1.0.0' }))).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringContaining(`needs yaml 1.0.0, not ${here}`),
    });
  });

  it('leaves no folder where nobody waits for it any more', async () => {
    const before = bundles();
    const inventory = copyOf({ yaml: versionHere('yaml') });
    const packages = await Packages.plan(inventory);
    const making = packages.of(inventory.loadgen.source)?.file();
    const [made] = bundles().filter((one) => !before.includes(one));
    packages.close();
    expect(existsSync(join(tmpdir(), made ?? '.'))).toBe(false);
    // What is at work may fail, or come to its end; what it makes is removed when this process ends.
    await making?.catch(() => undefined);
    packages.close();
    expect(bundles()).not.toContain(made);
  });
});
