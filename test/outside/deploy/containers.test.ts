import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { repositoryFile, repositoryText } from '../../scenes/host/repository.ts';

// Goal: both images can be built from nothing, and run without rights as deploy/docker/README.md
// says. Method: deploy/docker/try.sh: base images by debootstrap, buildah, crun; some ten minutes.
// What it lacks, it says.

const script = repositoryFile('deploy/docker/try.sh');

/** Why containers cannot be tried here; undefined where they can. */
function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  const tools = ['buildah', 'crun', 'debootstrap', 'ip', 'openssl', 'unshare'];
  const isMissing = (tool: string): boolean =>
    spawnSync('/bin/sh', ['-c', `command -v ${tool}`]).status !== 0;
  const missing = tools.filter(isMissing);
  return missing.length === 0 ? undefined : `needs ${missing.join(', ')}`;
}

const why = whyNot();

describe.skipIf(why !== undefined)(`containers${why === undefined ? '' : ` (${why})`}`, () => {
  let said = '';
  const results = suiteFolder();

  beforeAll(() => {
    // Root file systems that a folder has already are used again: LONGHAUL_BASE saves the two
    // minutes of debootstrap.
    const base = process.env['LONGHAUL_BASE'] ?? 'debootstrap';
    const storage = join(suiteFolder(), 'storage');
    mkdirSync(storage);
    const args = ['--base', base, '--storage', storage, '--results', results];
    const tried = spawnSync(script, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    said = tried.stdout;
    expect({ status: tried.status, stderr: tried.stderr.slice(-4000) }).toMatchObject({
      status: 0,
    });
  }, 1_800_000);

  const seen = [
    'sut: user 65532:65532, no capability, no new privileges, no setuid program, root file system read-only',
    'loadgen: user 65532:65532, no capability, no new privileges, no setuid program, root file system read-only',
    "sut: the image's health check says: SERVING (port 50052)",
    'sut: longhaul loadgen self-check: unmodified: all files are those that were built',
    'loadgen: measured the SUT over mutual TLS with a token: ',
    'loadgen: results on the mounted folder, owned by 65532:65532',
    'sut: tini is process 1 and reaps what others leave',
    'sut: wrote the model into its cache and no other file, so no telemetry either',
    'loadgen: SIGTERM reached the run: exit code 143, and its logs are there',
    'sut: SIGTERM drained the node: exit code 0',
  ];
  it.each(seen)('%s', (line) => {
    expect(said).toContain(`\nok   ${line}`);
  });

  // crun gives a container's user what it has as stdin.
  it("leave this machine's /dev/null to root", () => {
    expect(statSync('/dev/null')).toMatchObject({ uid: 0, gid: 0 });
  });

  it('leave a run folder with the address of a host that is not LoadGen', () => {
    expect(readdirSync(results).sort()).toEqual(['first', 'second']);
    const audit = readFileSync(join(results, 'first', 'network_audit.json'), 'utf8');
    expect(audit).toContain('10.231.77.2:50051');
  });
});

describe('the Dockerfile', () => {
  const text = repositoryText('deploy/docker/Dockerfile');

  it('has no fault that a linter finds', () => {
    expect(validate(text).map(({ message }) => message)).toEqual([]);
  });

  it('stands on full versions, which can be pinned, and takes no package but those of the lock file', () => {
    const bases = [...text.matchAll(/^ARG \w+_IMAGE=(.*)$/gm)].map(([, image]) => image);
    expect(bases).toHaveLength(2);
    for (const image of bases) expect(image).toMatch(/:[\w-]*\d+\.\d+[\w.-]*$/);
    const stages = [...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    const named = [...text.matchAll(/ AS (\S+)$/gm)].map(([, stage]) => stage);
    const others = stages.filter((image) => !named.includes(image));
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Docker's own way to write an argument.
    expect(others).toEqual(['${NODE_IMAGE}', '${BASE_IMAGE}']);
    expect(text).not.toMatch(/\b(curl|wget|ADD)\b/);
  });
});

describe.skipIf(why !== undefined)('the context of a build (needs buildah)', () => {
  it('has neither keys, results and caches of a working folder nor what is built anew', () => {
    const folder = suiteFolder();
    const write = (path: string, content = ''): void => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    };
    const kept = ['.git/config', '.env', 'tls/authority/ca.key', 'token', 'results/first/x'];
    const built = ['dist/x.js', 'node_modules/x/package.json', 'qdl/node_modules/x/index.js'];
    const others = ['test/unit/x.test.ts', 'deploy/certificates/x.key', 'longhaul-0.1.0.tgz'];
    for (const path of [...kept, ...built, ...others, 'qdl/x.ts', 'package.json']) write(path);
    cpSync(repositoryFile('.dockerignore'), join(folder, '.dockerignore'));
    write('Dockerfile', 'FROM scratch\nCOPY . /\n');
    const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run')];
    const buildah = (...args: string[]): string => {
      const all = [...storage, '--storage-driver', 'vfs', ...args];
      const { status, stdout, stderr } = spawnSync('buildah', all, { encoding: 'utf8' });
      expect({ status, stderr }).toMatchObject({ status: 0 });
      return stdout.trim();
    };
    buildah(
      'build',
      '--isolation',
      'chroot',
      '--file',
      join(folder, 'Dockerfile'),
      '-t',
      'x',
      folder,
    );
    const root = buildah('mount', buildah('from', '--pull-never', 'x'));
    const sent = spawnSync('find', ['.', '-type', 'f'], { cwd: root, encoding: 'utf8' }).stdout;
    expect(sent.trim().split('\n').sort()).toEqual(['./package.json', './qdl/x.ts']);
  });
});
