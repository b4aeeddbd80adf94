import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { repositoryFile, repositoryText } from '../../scenes/host/repository.ts';
import { canRun } from '../../scenes/sut-node/certificates.ts';
import { readCompose } from './compose-files.ts';
import { ComposeServices, SUBNETS } from './compose-services.ts';
import { whyNoContainers } from './played/container-network.ts';

// Goal: what deploy/compose.yaml says works: nodes get healthy, LoadGen measures them over mutual
// TLS with a token, Prometheus finds all of them. Method: commands, users, mounts and networks of
// the file itself, in namespaces in place of containers, with the line that makes the certificates
// taken from compose/README.md. Grafana is not started.

const why = whyNoContainers();
const hasPrometheus = canRun('prometheus', ['--version']);
// A node makes the example model first, which takes a minute where other work has the cores.
const POLL = { timeout: 240_000, interval: 500 };
// Less load than the file's, and bounds that a busy machine keeps.
const LOAD = ['--target-qps', '50', '--min-duration', '12s', '--target-latency', '5s'];
const RUN = ['run', '--config', '/etc/longhaul/longhaul.yaml', ...LOAD];

describe.skipIf(why !== undefined)(
  `deploy/compose.yaml${why === undefined ? '' : ` (${why})`}`,
  () => {
    const folder = suiteFolder();
    const tls = join(folder, 'tls');
    const strange = join(folder, 'strange');
    const names = ['sut-a', 'sut-b', 'loadgen', 'prometheus'];
    const env = { GRAFANA_ADMIN_PASSWORD: 'unused', LONGHAUL_TLS: tls };
    let services: ComposeServices;

    beforeAll(async () => {
      process.chdir(repositoryFile('.'));
      makeCertificates(tls);
      services = new ComposeServices(readCompose('deploy/compose.yaml', env), folder, names);
      for (const name of ['sut-a', 'sut-b']) services.start(name);
    });

    afterAll(async () => {
      await services?.down();
    });

    it('has nodes that get healthy by their own health checks', async () => {
      for (const name of ['sut-a', 'sut-b']) {
        await expect.poll(() => services.health(name), POLL).toMatchObject({ code: 0 });
      }
    });

    it('has nodes that can write nothing but their cache and /tmp, and read no key of others', () => {
      const test =
        'for f in / /etc /usr /opt /etc/longhaul/tls /var/cache/longhaul /tmp; do [ -w $f ] && echo $f; done; id -u';
      expect(services.exec('sut-a', ['sh', '-c', test]).said).toBe(
        '/var/cache/longhaul\n/tmp\n65532\n',
      );
      expect(services.exec('sut-a', ['ls', '/etc/longhaul/tls']).said).toBe(
        'ca.crt\ntls.crt\ntls.key\ntoken\n',
      );
      const lines = ['grep', '-E', '^(CapEff|CapBnd|NoNewPrivs)', '/proc/self/status'];
      expect(services.exec('sut-a', lines).said.replace(/\s+/g, ' ')).toBe(
        'CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 ',
      );
    });

    it('measures: both nodes, over the measuring network, VALID, with results of the volume', async () => {
      const run = services.start('loadgen', RUN);
      const { code, stdout, stderr } = await run.ended;
      expect(stderr).not.toMatch(/warning/);
      expect(stdout).toMatch(/^SUT +2 nodes, sut-a at .*, sut-b at /m);
      expect(stdout).toMatch(/^VALID /m);
      expect(code).toBe(0);
      const [results = ''] = readdirSync(services.volume('results'));
      const output = join(services.volume('results'), results);
      expect(statSync(join(output, 'mlperf_log_summary.txt')).uid).toBe(65532);
      const audit = readFileSync(join(output, 'network_audit.json'), 'utf8');
      expect(audit).toContain('sut-a.measuring:50051');
      expect(audit).toMatch(/10\.88\.1\.1\d/);
    });

    it('refuses a LoadGen of another authority', async () => {
      makeCertificates(strange);
      const { code, stderr } = await withLoadGenOf(strange);
      expect(stderr).toMatch(/certificate/);
      expect(code).toBe(4);
    });

    it('refuses a LoadGen with another token', async () => {
      const mixed = join(folder, 'mixed');
      cpSync(tls, mixed, { recursive: true });
      writeFileSync(join(mixed, 'loadgen/token'), `${'0'.repeat(64)}\n`);
      execFileSync('chown', ['-R', '65532:65532', join(mixed, 'loadgen')]);
      const { code, stderr } = await withLoadGenOf(mixed);
      expect(stderr).toMatch(/token/);
      expect(code).toBe(4);
    });

    it.skipIf(!hasPrometheus)(
      'has a Prometheus that scrapes nodes and LoadGen by the names of the file (prometheus)',
      async () => {
        services.start('prometheus');
        const ask = (expression: string): string =>
          services.exec('prometheus', [
            ...['promtool', 'query', 'instant', 'http://127.0.0.1:9090', expression],
          ]).said;
        const isUp = 'count(up{job="longhaul-sut"} == 1)';
        await expect.poll(() => ask(isUp), POLL).toContain('=> 2 @');
        const run = services.start('loadgen', RUN);
        const completed = 'longhaul_loadgen_samples_completed_total{instance="loadgen:9465"} > 0';
        await expect.poll(() => ask(completed), POLL).toContain('instance="loadgen:9465"');
        expect((await run.ended).code).toBe(0);
      },
    );

    it('has nodes that end well, sooner than they would be killed', async () => {
      const ended = await Promise.all(['sut-a', 'sut-b'].map((name) => services.stop(name)));
      expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    });

    /** A short run whose LoadGen has the files of another folder. */
    async function withLoadGenOf(other: string): Promise<{ code: number | null; stderr: string }> {
      const file = readCompose('deploy/compose.yaml', { ...env, LONGHAUL_TLS: other });
      return services.start('loadgen', RUN, file).ended;
    }
  },
);

describe.skipIf(why !== undefined)(
  `deploy/compose.sut.yaml, deploy/compose.loadgen.yaml${why === undefined ? '' : ` (${why})`}`,
  () => {
    const folder = suiteFolder();
    const address = `${SUBNETS['measuring']}.10`;
    const tls = join(folder, 'tls');
    let services: ComposeServices;

    afterAll(async () => {
      await services?.down();
    });

    it('measure from one host to another', async () => {
      process.chdir(repositoryFile('.'));
      makeCertificates(tls, ['--sut', `sut-a=${address}`, '--owner', '65532:65532']);
      const env = { LONGHAUL_TLS: tls, LONGHAUL_NODE: 'sut-a', LONGHAUL_ADDRESS: address };
      const node = readCompose('deploy/compose.sut.yaml', env).services;
      const sut = `${address}:50051`;
      const loadgen = readCompose('deploy/compose.loadgen.yaml', { ...env, LONGHAUL_SUT: sut });
      const both = { services: { ...node, ...loadgen.services } };
      services = new ComposeServices(both, folder, ['sut', 'loadgen']);
      services.start('sut');
      await expect.poll(() => services.health('sut'), POLL).toMatchObject({ code: 0 });
      const command = [...(both.services['loadgen']?.command ?? []), ...LOAD];
      const { code, stdout } = await services.start('loadgen', command).ended;
      expect(stdout).toMatch(/^SUT +sut-a at /m);
      expect(stdout).toMatch(/^VALID /m);
      expect(code).toBe(0);
    });
  },
);

/** By the line of the README, in another folder. @param nodes In place of its nodes. */
function makeCertificates(folder: string, nodes?: readonly string[]): void {
  const text = repositoryText('deploy/compose/README.md');
  const [, line = ''] = /(certificates\/make-certificates\.sh tls .*)/.exec(text) ?? [];
  const [script = '', , ...args] = line.trim().split(/\s+/);
  execFileSync('sh', [repositoryFile(join('deploy', script)), folder, ...(nodes ?? args)]);
}
