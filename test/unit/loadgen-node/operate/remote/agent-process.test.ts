import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type {
  AgentEvent,
  ExecRequest,
} from '../../../../../loadgen-node/operate/remote/agent/agent-words.ts';
import { execute } from '../../../../../loadgen-node/operate/remote/host-session.ts';
import { AgentProcess } from '../../../../../loadgen-node/operate/remote/hosts/agent-process.ts';
import type { AgentCallEnd } from '../../../../../loadgen-node/operate/remote/hosts/host-link.ts';
import { LocalLink } from '../../../../../loadgen-node/operate/remote/hosts/local-link.ts';
import { explainSsh } from '../../../../../loadgen-node/operate/remote/hosts/ssh-errors.ts';
import { sshOptions } from '../../../../../loadgen-node/operate/remote/hosts/ssh-link.ts';
import { tempFolder } from '../../../../support/process/temp-folder.ts';

const REQUEST = { verb: 'list', path: '/' } as const;

/** Runs a host's words instead of an agent. */
async function hear(script: string): Promise<{ events: AgentEvent[]; end: AgentCallEnd }> {
  const events: AgentEvent[] = [];
  const onEvent = (event: AgentEvent): void => void events.push(event);
  const end = await new AgentProcess('sh', ['-c', script], REQUEST, { onEvent }).ended;
  return { events, end };
}

const GREET = "printf '\\nlonghaul-agent 20.20.0\\n'";

describe('a program at whose other end an agent answers', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each(['null', '5', '"done"', '[]', '{}', '{"event":7}', 'no JSON'])(
    'passes over a line %s',
    async (line) => {
      const { events } = await hear(`${GREET}; echo '${line}'; echo '{"event":"done"}'`);
      expect(events).toEqual([{ event: 'done' }]);
    },
  );

  it('is ended where it writes a line without an end', async () => {
    const { end } = await hear(`${GREET}; exec tr '\\0' x < /dev/zero`);
    expect(explainSsh('h', end)).toMatch(/^what comes from it is no answer, and has no end/);
  });

  it('is ended where it does not answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const hearing = hear('exec sleep 30');
    await vi.advanceTimersByTimeAsync(60_000);
    const { end } = await hearing;
    expect(explainSsh('h', end)).toMatch(/its shell does not answer within 60 s/);
  });
});

describe('a command on a host', () => {
  const exec = (folder: string, more: Partial<ExecRequest>): ExecRequest => ({
    ...{ verb: 'exec', folder, name: 'run-1-2', argv: ['true'], environment: {}, files: {} },
    ...{ stopTimeoutMs: 1000, ...more },
  });

  it('that is not there is an error of the host, and leaves nothing', async () => {
    const folder = tempFolder();
    const link = new LocalLink(process.execPath);
    const request = exec(folder, { argv: ['/none/such'], files: { 'tls.key': 'k' } });
    await expect(execute({ link, label: 'h' }, request)).rejects.toMatchObject({
      code: 'ERR_HOST',
      message: 'h: cannot start /none/such: spawn /none/such ENOENT',
    });
    await link.close();
    expect(readdirSync(join(folder, 'run'))).toEqual([]);
  });

  it('does not go on where it cannot be written down, and the reason is told', async () => {
    const folder = tempFolder();
    const link = new LocalLink(process.execPath);
    // The state has a name that is taken by a folder: as good as a full disk.
    mkdirSync(join(folder, 'run', 'run-1-2', 'state.json'), { recursive: true });
    const late = join(folder, 'late');
    const request = exec(folder, { argv: ['sh', '-c', `sleep 0.5; touch '${late}'`] });
    await expect(execute({ link, label: 'h' }, request)).rejects.toMatchObject({
      code: 'ERR_HOST',
      message: expect.stringMatching(/^h: EISDIR/),
    });
    await link.close();
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(existsSync(late)).toBe(false);
  });
});

describe('the options of ssh', () => {
  it.each([
    ['OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.19', true],
    ['OpenSSH_8.7p1', true],
    ['OpenSSH_10.0p2', true],
    ['OpenSSH_8.4p1 Debian-5', false],
    ['OpenSSH_for_Windows_8.1p1, LibreSSL 3.0.2', false],
    ['Welcome to this host', false],
  ])('are those that %s has', (version, isNew) => {
    const options = sshOptions(version);
    expect(options).toContain('BatchMode=yes');
    expect(options.includes('StdinNull=no')).toBe(isNew);
  });
});
