import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { SeenState } from '../../../../../loadgen-node/operate/remote/agent/agent-words.ts';
import { withSut } from '../../../../../loadgen-node/operate/remote/bring-up.ts';
import { measure } from '../../../../../loadgen-node/operate/remote/measure.ts';
import { hostsText } from '../../../../../loadgen-node/operate/remote/remote-text.ts';
import { status, takeDown } from '../../../../../loadgen-node/operate/remote/take-down.ts';
import { type Behaviour, withResults } from '../../../../support/deploy/fake-hosts.ts';
import {
  measureOptions as optionsOf,
  remoteScene as sceneOf,
  theRun,
} from '../../../../support/deploy/remote-scene.ts';
import { tempFolder } from '../../../../support/process/temp-folder.ts';

// Goal: whatever fails, on whichever host and at whichever moment, everything that was started is told to stop and one line says
// why. Method: hosts that are objects; test/deploy/remote.test.ts has real ones.

const UP = { isHeld: false, isRestarting: true };

describe('up', () => {
  it('asks LoadGen for every name once all nodes are ready, and lets the nodes stay', async () => {
    const { context, hosts } = await sceneOf();
    await withSut(context, UP, ({ started }) => started.keep());
    for (const host of [hosts.a, hosts.b]) {
      expect(host.verbs).toEqual(['facts', 'start']);
      expect(host.call_('start').words).toEqual(['keep']);
      expect(host.isClosed).toBe(true);
    }
    expect(hosts.lg.call_('exec').request).toMatchObject({
      argv: expect.arrayContaining(['name', '--sut', 'a:50051,b:50051']),
    });
  });

  it('writes no setting, no path of a key and no secret on a command line', async () => {
    const { context, hosts } = await sceneOf();
    await withSut(context, UP, ({ started }) => started.keep());
    const { request } = hosts.a.call_('start');
    const [node] = request.verb === 'start' ? request.nodes : [];
    expect(node?.argv.join(' ')).toBe(
      '/opt/longhaul sut --config /home/fake/longhaul/run/sut-a/config.yaml --json',
    );
    expect(node?.files).toMatchObject({ token: 'secret token of sut-a' });
    expect(JSON.parse(node?.files['config.yaml'] ?? '')).toMatchObject({
      sut: { node: 'sut-a', listen: '0.0.0.0:50051', benchmark: 'null' },
    });
  });

  it('starts nothing where a host cannot be reached, and names each of those', async () => {
    const gone: Behaviour = { facts: (call) => call.end(255) };
    const { context, hosts } = await sceneOf({ lg: gone, b: gone });
    const up = withSut(context, UP, () => Promise.resolve());
    await expect(up).rejects.toMatchObject({
      code: 'ERR_HOST',
      message: 'lg: no way to it\nb: no way to it',
    });
    expect(hosts.a.verbs).toEqual(['facts']);
    expect(Object.values(hosts).every(({ isClosed }) => isClosed)).toBe(true);
  });

  it('stops the nodes that started where one does not', async () => {
    const { context, hosts } = await sceneOf({
      b: {
        start: (call) => {
          const failure = { why: 'ended', message: 'cannot listen', log: '' } as const;
          call.tell({ event: 'failed', node: 'sut-b', ...failure, code: 'ERR_SUT_LISTEN' });
          call.onWord(() => call.end());
        },
      },
    });
    const up = withSut(context, UP, () => Promise.resolve());
    await expect(up).rejects.toMatchObject({
      code: 'ERR_SUT_LISTEN',
      message: expect.stringMatching(/^b: sut-b: cannot listen \(log: .*run\/sut-b\/log\)$/),
    });
    expect(hosts.a.call_('start').words).toEqual(['stop']);
  });

  it('stops them where LoadGen does not reach them', async () => {
    const { context, hosts } = await sceneOf({
      lg: {
        exec: (call) => {
          call.output('{"error":{"code":"ERR_SUT_UNREACHABLE","message":"no SUT node answers"}}\n');
          call.end(4);
        },
      },
    });
    const up = withSut(context, UP, () => Promise.resolve());
    await expect(up).rejects.toMatchObject({
      code: 'ERR_SUT_UNREACHABLE',
      message: 'lg: no SUT node answers',
    });
    expect(hosts.b.call_('start').words).toEqual(['stop']);
  });

  it('stops them on a signal while another one gets ready', async () => {
    const { context, hosts, controller } = await sceneOf({
      b: { start: (call) => call.onWord(() => call.end()) },
    });
    const reason = new Error('Ctrl-C');
    setTimeout(() => controller.abort(reason), 20);
    await expect(withSut(context, UP, () => Promise.resolve())).rejects.toBe(reason);
    expect(hosts.a.call_('start').words).toEqual(['stop']);
    expect(hosts.b.call_('start').words).toEqual(['stop']);
  });

  it('says what a host lacks before anything is started', async () => {
    const facts: Behaviour = {
      facts: (call) => {
        const event = { event: 'facts', facts: { ...poor, folderProblem: '/ is not writable' } };
        call.tell(event as Parameters<typeof call.tell>[0]);
      },
    };
    const poor = {
      nodeVersion: '22.1.0',
      hasTar: false,
      installs: {},
      states: [],
      commandVersion: '',
    };
    const { context, hosts } = await sceneOf({ a: facts });
    await expect(withSut(context, UP, () => Promise.resolve())).rejects.toMatchObject({
      message:
        'a: / is not writable: say "folder" in the inventory; there is no program tar: install it; /opt/longhaul --version does not answer: is longhaul installed there?',
    });
    expect(hosts.b.verbs).toEqual(['facts']);
  });

  it('refuses a Node.js that is too old', async () => {
    const facts: Behaviour = {
      facts: (call) =>
        call.tell({ event: 'facts', facts: { nodeVersion: '18.20.0' } } as Parameters<
          typeof call.tell
        >[0]),
    };
    const { context } = await sceneOf({ a: facts });
    await expect(withSut(context, UP, () => Promise.resolve())).rejects.toMatchObject({
      message: expect.stringMatching(/^a: its Node\.js is 18\.20\.0: install 20\.19 or newer/),
    });
  });
});

describe('run', () => {
  const listed = (path: string, text: string) => {
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { path, bytes: Buffer.byteLength(text), sha256 };
  };

  it('fetches what LoadGen wrote, checks it, stops the nodes, and has the exit code of the run', async () => {
    const source = tempFolder();
    writeFileSync(join(source, 'log.txt'), 'VALID');
    const { context, hosts, folder } = await sceneOf({
      lg: withResults(source, [listed('log.txt', 'VALID')]),
    });
    const running = measure(context, optionsOf(folder));
    (await theRun(hosts.lg)).end(3);
    expect(await running).toMatchObject({ exitCode: 3, fetched: { files: 1, bytes: 5 } });
    expect(readFileSync(join(folder, 'out', 'log.txt'), 'utf8')).toBe('VALID');
    expect(hosts.a.call_('start').words).toEqual(['stop']);
    expect(hosts.lg.verbs.at(-1)).toBe('remove');
  });

  it('refuses a result that did not arrive as it is there, and leaves it there', async () => {
    const source = tempFolder();
    writeFileSync(join(source, 'log.txt'), 'VALIDX');
    const { context, hosts, folder } = await sceneOf({
      lg: withResults(source, [listed('log.txt', 'VALID')]),
    });
    const running = measure(context, optionsOf(folder));
    const ended = expect(running).rejects.toMatchObject({
      code: 'ERR_HOST',
      message: expect.stringMatching(
        /^lg: log\.txt did not arrive as it is there.*; the results stay on lg in .*results\/run-/,
      ),
    });
    (await theRun(hosts.lg)).end(0);
    await ended;
    expect(hosts.lg.verbs).not.toContain('remove');
    expect(hosts.b.call_('start').words).toEqual(['stop']);
  });

  it('passes Ctrl-C to LoadGen, and fetches what it wrote', async () => {
    const { context, hosts, controller, folder } = await sceneOf();
    const running = measure(context, optionsOf(folder));
    const run = await theRun(hosts.lg);
    run.onWord((word) => word === 'interrupt' && run.end(130));
    controller.abort(new Error('Ctrl-C'));
    expect(await running).toMatchObject({ exitCode: 130 });
    expect(hosts.lg.verbs).toContain('list');
    expect(hosts.a.call_('start').words).toEqual(['stop']);
  });

  it('waits for LoadGen by a new connection where the first one broke off, and stops the nodes', async () => {
    const { context, hosts, folder } = await sceneOf();
    const running = measure(context, optionsOf(folder));
    const ended = expect(running).rejects.toMatchObject({
      code: 'ERR_HOST',
      message: expect.stringMatching(/^lg: .*the run was broken off/),
    });
    (await theRun(hosts.lg)).end(255);
    await ended;
    expect(hosts.lg.verbs).toContain('stop');
    expect(hosts.a.call_('start').words).toEqual(['stop']);
    expect(existsSync(join(folder, 'out.partial'))).toBe(false);
  });

  it.each([
    [0, 'keep'],
    [130, 'stop'],
  ])('with --keep and exit code %d tells the nodes to %s', async (code, word) => {
    const { context, hosts, folder } = await sceneOf();
    const running = measure(context, { ...optionsOf(folder), isKeeping: true });
    (await theRun(hosts.lg)).end(code);
    await running;
    expect(hosts.a.call_('start').words).toEqual([word]);
    expect(hosts.a.call_('start').request).toMatchObject({ isHeld: false });
  });

  it('refuses an output folder that holds something before a host is asked', async () => {
    const { context, hosts, folder } = await sceneOf();
    mkdirSync(join(folder, 'out', 'before'), { recursive: true });
    await expect(measure(context, optionsOf(folder))).rejects.toMatchObject({ code: 'ERR_OUTPUT' });
    expect(hosts.a.verbs).toEqual([]);
  });
});

describe('down and status', () => {
  const state = (name: string): SeenState => ({
    ...{ name, kind: 'sut', processId: 5, startTime: '1', digest: '', isHeld: false },
    ...{ since: '2026-01-01T00:00:00Z', address: '', isAlive: true },
  });

  it('stops what is in the inventory, and names what it leaves', async () => {
    const { context, hosts, said } = await sceneOf({}, [state('sut-a'), state('other')]);
    const reports = await takeDown(context, { isPurging: true });
    expect(hosts.a.call_('stop').request).toMatchObject({ names: ['sut-a'] });
    expect(said.join('\n')).toMatch(/\[a\] other: left, process 5: not in this inventory/);
    expect(said.join('\n')).toMatch(/\[a\] nothing is removed: others use/);
    expect(hosts.b.verbs).toEqual(['facts', 'remove']);
    expect(reports.find(({ host }) => host === 'a')?.processes).toMatchObject([
      { name: 'sut-a', state: 'drained' },
      { name: 'other', state: 'runs', isInInventory: false },
    ]);
  });

  it('removes what processes left that crashed', async () => {
    const crashed = { ...state('sut-a'), isAlive: false };
    const run = { ...crashed, name: 'run-1-2', kind: 'loadgen' as const };
    const others = { ...crashed, name: 'other' };
    const { context, hosts } = await sceneOf({}, [crashed, run, others]);
    await takeDown(context, { isPurging: false });
    expect(hosts.a.call_('stop').request).toMatchObject({ names: ['sut-a', 'run-1-2'] });
  });

  it('stops the others where a host cannot be reached, and then says so', async () => {
    const gone: Behaviour = { facts: (call) => call.end(255) };
    const { context, hosts } = await sceneOf({ b: gone }, [state('sut-a')]);
    await expect(takeDown(context, { isPurging: false })).rejects.toMatchObject({
      message: 'b: no way to it',
    });
    expect(hosts.a.verbs).toEqual(['facts', 'stop']);
  });

  it('stops the others while a host hangs, and then says so', async () => {
    const hung: Behaviour = { facts: () => {} };
    const { context, hosts } = await sceneOf({ b: hung }, [state('sut-a')]);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const down = takeDown(context, { isPurging: false });
      const ended = expect(down).rejects.toMatchObject({
        code: 'ERR_HOST',
        message: expect.stringMatching(/^b: its Node\.js answers, but tells nothing/),
      });
      await vi.advanceTimersByTimeAsync(1_000);
      expect(hosts.a.verbs).toEqual(['facts', 'stop']);
      await vi.advanceTimersByTimeAsync(70_000);
      await ended;
    } finally {
      vi.useRealTimers();
    }
  });

  it('tells what runs', async () => {
    const { context } = await sceneOf({}, [state('sut-a')]);
    const reports = await status(context);
    expect(reports.map(({ processes }) => processes.length)).toEqual([0, 1, 0]);
    expect(reports.map(({ isInstalled }) => isInstalled)).toEqual([true, true, true]);
  });

  it('need no package: whether it is installed is unknown then', async () => {
    const { context, hosts } = await sceneOf({}, [state('sut-a')]);
    const { inventory } = context;
    const source = { kind: 'npm', tarball: 'gone.tgz' } as const;
    const nodes = inventory.nodes.map((node) => ({ ...node, host: { ...node.host, source } }));
    const without = { ...context, inventory: { ...inventory, nodes }, packages: undefined };
    const seen = await status(without);
    expect(seen.map(({ isInstalled }) => isInstalled)).toEqual([true, null, null]);
    expect(hostsText(seen)).toMatch(/^b: .*, package installed or not: not known$/m);
    await takeDown(without, { isPurging: false });
    expect(hosts.a.verbs).toContain('stop');
  });
});
