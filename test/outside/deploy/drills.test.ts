import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { freePort } from '../../scenes/host/ports.ts';
import { longhaul } from '../../scenes/host/processes.ts';
import { HAS_OPENSSL } from '../../scenes/sut-node/certificates.ts';

// Goal: the drills of docs/operate.md and docs/secure.md do what they say. Method: their commands
// and scripts with real processes, mutual TLS and a token, on loopback.

const MAIN = fileURLToPath(compiledModule('loadgen-node/main.js'));
const script = (path: string): string =>
  fileURLToPath(new URL(`../../../deploy/${path}`, import.meta.url));
const NAMES = ['sut-a', 'sut-b', 'sut-c'] as const;
type Name = (typeof NAMES)[number];

/** A small init: starts a node as configured, ends it by SIGTERM, remembers its process. */
const INIT = `#!/bin/sh
set -eu
cd "$(dirname "$0")"
stop() {
  [ -f "$1.pid" ] || return 0
  pid=$(cat "$1.pid")
  kill -TERM "$pid" 2>/dev/null || true
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  rm -f "$1.pid"
}
start() {
  tls="node-tls/$1"
  '${process.execPath}' '${MAIN}' sut --benchmark null --listen "127.0.0.1:$(cat "$1.port")" --node "$1" \\
    --tls-cert "$tls/tls.crt" --tls-key "$tls/tls.key" --tls-client-ca "$tls/ca.crt" --token-file "$tls/token" \\
    >"$1.log" 2>&1 </dev/null &
  echo $! >"$1.pid"
}
case $1 in
  start) start "$2" ;;
  stop) stop "$2" ;;
  restart) stop "$2"; start "$2" ;;
esac
`;

describe.skipIf(!HAS_OPENSSL)(
  `three nodes with mutual TLS and a token${HAS_OPENSSL ? '' : ' (openssl is not installed)'}`,
  () => {
    const folder = suiteFolder();
    const ports = new Map<Name, number>();
    const init = join(folder, 'init.sh');
    const address = (name: Name): string => `127.0.0.1:${ports.get(name)}`;
    const all = (): string => NAMES.map(address).join(',');

    beforeAll(async () => {
      writeFileSync(init, INIT);
      for (const name of NAMES) {
        ports.set(name, await freePort());
        writeFileSync(join(folder, `${name}.port`), String(ports.get(name)));
      }
      makeCertificates('tls');
      for (const name of NAMES) {
        install(name, 'tls');
        execFileSync('sh', [init, 'start', name]);
      }
      await waitFor(NAMES, identity('tls'));
    });

    afterAll(() => {
      for (const name of NAMES) execFileSync('sh', [init, 'stop', name]);
    });

    function makeCertificates(to: string, ...flags: string[]): void {
      const nodes = NAMES.flatMap((name) => ['--sut', `${name}=127.0.0.1`]);
      const program = script('certificates/make-certificates.sh');
      execFileSync('sh', [program, join(folder, to), ...nodes, ...flags]);
    }

    /** Puts files where a node reads them at its next start. */
    function install(name: Name, from: string): void {
      mkdirSync(join(folder, 'node-tls', name), { recursive: true });
      cpSync(join(folder, from, name), join(folder, 'node-tls', name), { recursive: true });
    }

    /** How LoadGen reaches the nodes, with the files of a folder. */
    function identity(from: string): string[] {
      const at = (file: string): string => join(folder, from, 'loadgen', file);
      const tls = ['--tls-ca', at('ca.crt'), '--tls-cert', at('tls.crt')];
      return [...tls, '--tls-key', at('tls.key'), '--token-file', at('token')];
    }

    function rollingRestart(flags: readonly string[], wait = '60s') {
      const ended = spawnSync(
        script('rolling-restart.sh'),
        [
          ...['--restart', `sh ${init} restart {node}`, '--wait', wait],
          ...['--longhaul', `${process.execPath} ${MAIN}`],
          ...NAMES.map((name) => `${name}=${address(name)}`),
          '--',
          ...flags,
        ],
        { encoding: 'utf8' },
      );
      return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
    }

    /** Until nodes serve. */
    async function waitFor(names: readonly Name[], flags: readonly string[]): Promise<void> {
      const ready = await longhaul([
        'probe',
        'health',
        ...names.map(address),
        '--wait',
        '60s',
        ...flags,
      ]);
      expect(ready).toMatchObject({ code: 0 });
    }

    /** By hand: the script is slower, and has drills of its own. */
    async function restartAll(flags: readonly string[]): Promise<void> {
      for (const name of NAMES) execFileSync('sh', [init, 'restart', name]);
      await waitFor(NAMES, flags);
    }

    async function nameOf(flags: readonly string[]) {
      const { code, stdout, stderr } = await longhaul([
        'probe',
        'name',
        '--sut',
        all(),
        '--json',
        ...flags,
      ]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const call = JSON.parse(stdout) as { name: string; nodes: { identity: string }[] };
      return { name: call.name, identities: call.nodes.map((node) => node.identity) };
    }

    function measure(flags: readonly string[]) {
      const samples = '--benchmark null --sample-bytes 64 --sample-count 32 --scenario Offline';
      const load = '--target-qps 100 --min-duration 1ms --min-query-count 1 --ready-timeout 5s';
      const line = `run --sut ${all()} ${samples} ${load} --output ${suiteFolder()}`;
      return longhaul([...line.split(' '), ...flags]);
    }

    it('are restarted one after the other: one name, other processes, and a run before and after', async () => {
      const flags = identity('tls');
      expect(await measure(flags)).toMatchObject({ code: 0 });
      const before = await nameOf(flags);
      const restarted = rollingRestart(flags);
      expect(restarted).toMatchObject({ code: 0, stderr: '' });
      expect(restarted.stdout).toContain('Network SUT: sut-a, sut-b, sut-c');
      for (const name of NAMES) expect(restarted.stdout).toContain(`${address(name)} SERVING`);
      const after = await nameOf(flags);
      expect(after.name).toBe(before.name);
      expect(new Set([...before.identities, ...after.identities]).size).toBe(6);
      expect(await measure(flags)).toMatchObject({ code: 0 });
    });

    it('refuse a run in the middle of that, naming the node that is missing', async () => {
      const flags = identity('tls');
      execFileSync('sh', [init, 'stop', 'sut-b']);
      const refused = await measure(flags);
      expect(refused.code).toBe(4);
      expect(refused.stderr).toContain(
        `no SUT node answers at ${address('sut-b')} (connection refused)`,
      );
      const restarted = rollingRestart(flags);
      expect(restarted.code).toBe(4);
      expect(restarted.stderr).toContain(
        'the SUT does not give its name: mend it first; nothing was restarted',
      );
      execFileSync('sh', [init, 'start', 'sut-b']);
      // It waits for a node that only starts.
      await waitFor(['sut-b'], flags);
      expect(await measure(flags)).toMatchObject({ code: 0 });
    });

    it('get new certificates of the same authority, while LoadGen has its old one and then its new one', async () => {
      cpSync(join(folder, 'tls'), join(folder, 'tls-before'), { recursive: true });
      makeCertificates('tls');
      expect(readFileSync(join(folder, 'tls/sut-a/tls.crt'), 'utf8')).not.toBe(
        readFileSync(join(folder, 'tls-before/sut-a/tls.crt'), 'utf8'),
      );
      for (const name of NAMES) install(name, 'tls');
      expect(rollingRestart(identity('tls-before'))).toMatchObject({ code: 0 });
      expect(await measure(identity('tls-before'))).toMatchObject({ code: 0 });
      expect(await measure(identity('tls'))).toMatchObject({ code: 0 });
    });

    it('go over to another authority by way of a bundle of both', async () => {
      makeCertificates('tls-new');
      cpSync(join(folder, 'tls/authority/token'), join(folder, 'tls-new/authority/token'));
      makeCertificates('tls-new');
      const authority = (from: string): string =>
        readFileSync(join(folder, from, 'authority/ca.crt'), 'utf8');
      const both = `${authority('tls')}${authority('tls-new')}`;
      const withBoth = (from: string): string => {
        const to = `${from}-both`;
        cpSync(join(folder, from), join(folder, to), { recursive: true });
        for (const name of [...NAMES, 'loadgen'])
          writeFileSync(join(folder, to, name, 'ca.crt'), both);
        return to;
      };
      // 1. Everybody accepts both. 2. Everybody shows the new. 3. Nobody accepts the old.
      const old = withBoth('tls');
      for (const name of NAMES) install(name, old);
      await restartAll(identity('tls'));
      const fresh = withBoth('tls-new');
      install('sut-a', fresh);
      execFileSync('sh', [init, 'restart', 'sut-a']);
      await waitFor(['sut-a'], identity(old));
      const ofOld = await measure(identity('tls'));
      expect(ofOld.code).toBe(4);
      expect(ofOld.stderr).toMatch(
        new RegExp(
          `no TLS with the SUT node at ${address('sut-a')}: no authority of --tls-ca .* signed its certificate`,
        ),
      );
      expect(await measure(identity(old))).toMatchObject({ code: 0 });
      for (const name of NAMES) install(name, fresh);
      await restartAll(identity(old));
      for (const name of NAMES) install(name, 'tls-new');
      await restartAll(identity(fresh));
      expect(await measure(identity('tls-new'))).toMatchObject({ code: 0 });
      const stranger = await measure(identity(old));
      expect(stranger.code).toBe(4);
      expect(stranger.stderr).toMatch(
        // Whether the node's alert comes before the end of the connection is a race.
        /(?:does|may) not accept the certificate of --tls-cert/,
      );
    });

    it('get another token: until the last of them has it, a run is refused by a node that is named', async () => {
      cpSync(join(folder, 'tls-new'), join(folder, 'tls-token'), { recursive: true });
      makeCertificates('tls-token', '--new-token');
      install('sut-a', 'tls-token');
      execFileSync('sh', [init, 'restart', 'sut-a']);
      // Health needs no token: it is the certificate that lets it in.
      await waitFor(['sut-a'], identity('tls-new'));
      for (const [flags, node] of [
        [identity('tls-new'), address('sut-a')],
        [identity('tls-token'), address('sut-b')],
      ] as const) {
        const { code, stderr } = await measure(flags);
        expect(code).toBe(4);
        expect(stderr).toContain(node);
        expect(stderr).toContain(
          'the token is not the one of this node: give the file with the right one by --token-file',
        );
      }
      for (const name of ['sut-b', 'sut-c'] as const) install(name, 'tls-token');
      const flags = identity('tls-token');
      await restartAll(flags);
      expect(await measure(flags)).toMatchObject({ code: 0 });
    });

    it('do not start with a certificate that has expired, and say so; the restart stops there', async () => {
      const files = join(folder, 'node-tls', 'sut-a');
      const key = join(files, 'tls.key');
      const [request, cert] = [join(folder, 'expired.csr'), join(files, 'tls.crt')];
      const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
      openssl('req', '-new', '-subj', '/CN=sut-a', '-key', key, '-out', request);
      openssl('x509', '-req', '-in', request, '-signkey', key, '-days', '-1', '-out', cert);
      const flags = identity('tls-token');
      const ended = rollingRestart(flags, '3s');
      expect(ended.code).toBe(4);
      expect(ended.stderr).toContain('sut-a does not serve; the nodes behind it are as they were');
      await expect
        .poll(() => readFileSync(join(folder, 'sut-a.log'), 'utf8'), { timeout: 60_000 })
        .toMatch(/longhaul: --tls-cert \S+ has expired \(it was valid until .*\); make a new one/);
      expect(
        await longhaul(['probe', 'health', address('sut-b'), address('sut-c'), ...flags]),
      ).toMatchObject({ code: 0 });
    });
  },
);
