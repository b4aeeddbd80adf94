import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inventoryJsonSchema } from '../../../../../loadgen-node/operate/remote/inventory/inventory-schema.ts';
import { readInventory } from '../../../../../loadgen-node/operate/remote/inventory/read-inventory.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { SUT_OPTIONS } from '../../../../../sut-node/settings/sut-options.ts';
import { tempFolder } from '../../../../support/process/temp-folder.ts';

// Goal: an inventory is right in all of it before a host is touched, and what is wrong is told at once with its place.

function read(text: string, runFlags: Record<string, string> = {}) {
  const path = join(tempFolder(), 'hosts.yaml');
  writeFileSync(path, text);
  return readInventory(path, { run: RUN_SETTINGS, sut: SUT_OPTIONS, runFlags });
}

function problemsOf(text: string): string[] {
  try {
    read(text);
  } catch (error) {
    return (error as Error).message.split('\n').map((line) => line.replace(/^.*hosts\.yaml/, ''));
  }
  return [];
}

const GOOD = `
package: { loadgen: lg.tgz, sut: sut.tgz }
folder: ~/lab
pin: 2
environment: { OMP_NUM_THREADS: "2" }
loadgen: { ssh: lg.lab, pin: 0-1, install: copy }
sut:
  - { ssh: user@10.0.0.2, node: sut-a, address: 10.0.0.2:50051, settings: { workers: 2 } }
  - { ssh: h3, node: sut-b, address: "sut-b.lab:50051", command: /opt/longhaul/bin/longhaul }
  - { local: true, node: sut-c, address: "localhost:50053", listen: "[::1]:50053" }
sutSettings: { benchmark: digits, workers: 1 }
run: { targetQps: 100, scenario: Server }
tls: made
readyTimeout: 30s
`;

describe('a good inventory', () => {
  it('gives each host what all have and what it says itself', () => {
    const { loadgen, nodes, tls, readyTimeoutMs, run } = read(GOOD, { targetQps: '200' });
    expect(loadgen).toMatchObject({ ssh: 'lg.lab', folder: '~/lab', pin: '0-1' });
    expect(loadgen.source).toMatchObject({
      kind: 'copy',
      tarball: expect.stringMatching(/lg\.tgz$/),
    });
    expect(nodes.map(({ host }) => host.pin)).toEqual(['2', '2', '2']);
    expect(nodes.map(({ host }) => host.source.kind)).toEqual(['npm', 'command', 'npm']);
    expect(nodes[0]?.settings).toEqual({ benchmark: 'digits', workers: 2 });
    expect(nodes[0]?.host.environment).toEqual({ OMP_NUM_THREADS: '2' });
    expect(tls).toMatchObject({ kind: 'made' });
    expect(readyTimeoutMs).toBe(30_000);
    // A flag wins over the file; what the nodes serve is what is measured.
    expect(run).toEqual({ targetQps: 200, scenario: 'Server', benchmark: 'digits' });
  });

  it('listens on the address itself where that is one, and on all addresses of a host behind a name', () => {
    expect(read(GOOD).nodes.map(({ listen }) => listen)).toEqual([
      '10.0.0.2:50051',
      '0.0.0.0:50051',
      '[::1]:50053',
    ]);
  });
});

describe('a bad inventory', () => {
  it('is told everything that is wrong with it, with the place of each', () => {
    const problems = problemsOf(`
packge: x.tgz
loadgen: { local: true, ssh: x }
sut:
  - { ssh: -oProxyCommand=x, node: "a/b", address: 10.0.0.2, settings: { workrs: 2, listen: "x:1" } }
  - { ssh: h, node: sut-b, address: h:1 }
  - { ssh: h, node: sut-b, address: h:1, settings: { benchmark: digits } }
run: { sut: [h:1], targetQps: -1, benchmark: digits }
tls: on
`);
    for (const said of [
      ':2:1: unknown key "packge" in section "the inventory"; did you mean "package"?',
      ':3:10: one of "ssh: destination" and "local: true" is needed, and not both',
      /^:5:7: ssh: "-oProxyCommand=x" must be a destination of ssh/,
      /^:5:30: node: "a\/b" must be a name of letters/,
      /^:5:43: address: "10\.0\.0\.2" must be host:port/,
      ':5:74: unknown key "workrs" in section "settings"; did you mean "workers"?',
      ':5:85: "listen" is not said here: the entry of the node has "address" and "listen"',
      /^:6:5: "benchmark" of sut-b is needed/,
      ':7:5: another node has the name sut-b',
      ':7:5: another node has the address h:1',
      ':8:8: "sut" is not said here: the nodes are under "sut"',
      ':8:20: targetQps: -1 must be a number above 0',
      /^:9:1: tls: "on" must be made, off, or/,
    ]) {
      expect(problems).toContainEqual(
        typeof said === 'string' ? said : expect.stringMatching(said),
      );
    }
  });

  it('is told in the order of the file', () => {
    const lines = problemsOf('b: 1\na: 2\nloadgen: {}\nsut: [{}]\n');
    const places = lines.map((line) => Number(/^:(\d+)/.exec(line)?.[1]));
    expect(places).toEqual([...places].sort());
    expect(places).toContain(4);
  });

  it('is told what is missing', () => {
    const problems = problemsOf('loadgen: { local: true }\n');
    expect(problems).toContainEqual(expect.stringMatching(/^:1:1: "sut" is needed/));
    const noSut = problemsOf('loadgen: { local: true }\nsut: []\n');
    expect(noSut).toContainEqual(expect.stringMatching(/^:2:1: sut: \[\] must name at least one/));
  });

  it('is told what excludes what', () => {
    const with_ = (text: string): string[] =>
      problemsOf(`
loadgen: { local: true, ${text} }
sut: [{ ssh: h, node: a, address: h:1, settings: { benchmark: digits } }]
`);
    expect(with_('command: x, package: y.tgz')).toEqual([
      ':2:10: "command" and "package" exclude each other',
    ]);
    expect(with_('command: x, nodeFlags: [-x]').join()).toMatch(/NODE_OPTIONS in "environment"/);
    expect(with_('install: npm').join()).toMatch(/"install: npm" needs "package"/);
    expect(with_('environment: {a-b: x}').join()).toMatch(/must be a map of variables/);
    expect(with_('pin: all').join()).toMatch(/must be CPUs as taskset has them/);
  });

  it.each(['- a', 'a: [', ''])('is no map of keys: %s', (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'ERR_CONFIG_FILE' }));
  });
});

describe('docs/longhaul-inventory.schema.json', () => {
  it('is what the tables say; npx vitest run -u inventory writes it again', async () => {
    const schema = inventoryJsonSchema({ run: RUN_SETTINGS, sut: SUT_OPTIONS });
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../../../../docs/longhaul-inventory.schema.json');
  });
});
