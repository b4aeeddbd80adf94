import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  loaderCommand,
  shellWord,
} from '../../../../../loadgen-node/operate/remote/hosts/agent-source.ts';
import { explainSsh } from '../../../../../loadgen-node/operate/remote/hosts/ssh-errors.ts';

describe('what a host is asked to run', () => {
  it('is a word for any shell, whatever it holds', () => {
    const words = ["it's", '$HOME `id` "x" \\', 'a b;c', '-n', 'é!'];
    const said = execFileSync('sh', ['-c', `printf '%s\\n' ${words.map(shellWord).join(' ')}`]);
    expect(said.toString().trimEnd().split('\n')).toEqual(words);
  });

  it('finds a program below the home folder', () => {
    const said = execFileSync('sh', ['-c', `printf %s ${shellWord("~/it's/node")}`], {
      env: { HOME: '/home/x y' },
    });
    expect(said.toString()).toBe("/home/x y/it's/node");
  });

  it('holds nothing that a shell of another kind takes for its own', () => {
    const [, loader] = /-e '([^']*)'$/.exec(loaderCommand('node')) ?? [];
    expect(loader?.length).toBeGreaterThan(200);
    expect(loader).not.toMatch(/[!\\'\n]/);
  });

  it('needs nothing but Node.js: the agent imports its own folder alone', () => {
    const folder = new URL('../../../../../loadgen-node/operate/remote/agent/', import.meta.url);
    for (const name of readdirSync(folder)) {
      const text = readFileSync(new URL(name, folder), 'utf8');
      const imports = [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from);
      expect(imports.filter((from) => !/^(node:|\.\/agent-)/.test(from ?? ''))).toEqual([]);
    }
  });
});

describe('what ssh says', () => {
  const end = (code: number | null, stderr: string, nodeVersion = '') =>
    ({ code, stderr, isGreeted: nodeVersion !== '', nodeVersion }) as const;

  it.each([
    [end(255, 'Host key verification failed.'), /log in once by "ssh h" and compare/],
    [end(255, '@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @'), /find out why/],
    [end(255, 'u@h: Permission denied (publickey).'), /refuses the login/],
    [end(255, 'ssh: Could not resolve hostname h'), /no host of this name/],
    [end(255, 'connect to host h port 22: Connection refused'), /is sshd running/],
    [end(255, 'connect to host h port 22: Connection timed out'), /does not answer/],
    [end(127, 'sh: 1: exec: node: not found'), /no Node\.js.*"nodePath"/],
    [end(null, 'spawn ssh ENOENT'), /no program ssh on this machine/],
    [end(1, 'SyntaxError', '18.1.0'), /its Node\.js is 18\.1\.0/],
    [end(255, 'Broken pipe', '20.20.0'), /the connection broke off \(Broken pipe\)/],
    [end(255, 'p99 5 ms', '20.20.0'), /^the connection broke off$/],
    [end(9, ''), /no connection \(exit code 9\)/],
  ])('is told in words: %j', (how, said) => {
    expect(explainSsh('h', how)).toMatch(said);
  });
});
