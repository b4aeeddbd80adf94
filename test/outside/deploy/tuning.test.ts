import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NODE_FLAGS } from '../../../shared/base/process/node-flags.ts';
import { repositoryFile, repositoryText } from '../../scenes/host/repository.ts';

// Goal: the link that deploy/tuning/measure.py measures over is there, with its delay, or the
// script says what is wrong with it. Method: the script's own link, in two network namespaces;
// packets across it, and settings that no link has.

const FOLDER = repositoryFile('deploy/tuning');
const why = whyNoNamespaces();

function whyNoNamespaces(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  if (!existsSync('/usr/bin/python3')) return 'needs /usr/bin/python3';
  if (!existsSync('/dev/net/tun')) return 'needs /dev/net/tun';
  const trial = spawnSync('unshare', ['--net', 'true']);
  return trial.status === 0 ? undefined : 'network namespaces cannot be made here';
}

/** Runs lines of Python that know measure.py's names. */
function withMeasure(...lines: string[]) {
  const program = ['from measure import *', ...lines].join('\n');
  const command = ['-B', '-c', program];
  return spawnSync('/usr/bin/python3', command, { cwd: FOLDER, encoding: 'utf8', timeout: 60_000 });
}

/** Namespaces of the script that are there. */
const leftBehind = (): string =>
  spawnSync('ip', ['netns', 'list'], { encoding: 'utf8' }).stdout.replace(
    /^(?!longhaul-tune).*\n?/gm,
    '',
  );

describe.skipIf(why !== undefined)(`measure.py${why === undefined ? '' : ` (${why})`}`, () => {
  it('makes a link that is as slow as it was told', () => {
    const { stdout, stderr } = withMeasure(
      'with Link(50), Node(inside(FAR)) as node:',
      '    flags = ["--scenario", "SingleStream", "--min-duration", "1s", "--min-query-count", "5"]',
      '    print(json.dumps(loadgen(node, flags, inside(NEAR))["figures"]))',
    );
    expect(stderr).toBe('');
    // There and back; the upper bound is far away, for busy machines.
    expect(JSON.parse(stdout).p50 / 1e6).toBeGreaterThan(100);
    expect(JSON.parse(stdout).p50 / 1e6).toBeLessThan(1000);
    expect(leftBehind()).toBe('');
  });

  it('says why a link did not become ready, and leaves nothing', () => {
    const { status, stderr } = withMeasure('with Link("slow"):', '    print("entered")');
    expect(stderr).toMatch(/^the link did not become ready: .*tap-link.py longhaul-tune-lg/);
    expect(stderr).toMatch(/could not convert string to float: 'slow'\n$/);
    expect(status).toBe(1);
    expect(leftBehind()).toBe('');
  });

  it('leaves namespaces of another measurement alone', () => {
    const { stderr } = withMeasure(
      'with Link(0, kind="veth"):',
      '    try:',
      '        Link(0).__enter__()',
      '    except SystemExit as error:',
      '        print(error, file=sys.stderr)',
      '    run("ip", "netns", "exec", FAR, "true")',
    );
    expect(stderr).toMatch(/^ip netns add longhaul-tune-lg: .*File exists\n$/);
    expect(leftBehind()).toBe('');
  });
});

it('measure.py names files that are there', () => {
  const script = readFileSync(join(FOLDER, 'measure.py'), 'utf8');
  const named = [...script.matchAll(/REPOSITORY \/ "([^"]+)"/g)].map(([, file = '']) => file);
  expect(named).toContain('deploy/two-hosts/tap-link.py');
  expect(named.filter((file) => !existsSync(repositoryFile(file)))).toEqual([]);
});

it('tuning.md starts longhaul with flags of Node.js as the images start it', () => {
  const dockerfile = repositoryText('deploy/docker/Dockerfile');
  const [, list = ''] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  const [init, dashes, program] = JSON.parse(list) as string[];
  const [, node] = /^COPY --from=build \S+\/bin\/node (\S+)$/m.exec(dockerfile) ?? [];
  const page = repositoryText('deploy/tuning.md').replace(/\\\n */g, '');
  const flagged = [dashes, node, ...NODE_FLAGS, '--single-threaded-gc', program];
  expect(page).toContain(`--entrypoint ${init} longhaul-loadgen:VERSION ${flagged.join(' ')} run`);
  expect(page).toContain(`command: [${[init, ...flagged].join(', ')}]`);
});
