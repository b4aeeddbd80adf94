import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measure } from '../../../../../loadgen-node/operate/remote/measure.ts';
import { type Behaviour, withResults } from '../../../../support/deploy/fake-hosts.ts';
import { measureOptions, remoteScene, theRun } from '../../../../support/deploy/remote-scene.ts';
import { tempFolder } from '../../../../support/process/temp-folder.ts';

// Goal: a result that was measured is never lost, and nothing of somebody else's is removed, whatever --output names.
// Method: hosts that are objects, and real folders.

describe('--output of a run', () => {
  const sha256 = createHash('sha256').update('VALID').digest('hex');

  async function validRun(behaviour: Behaviour = {}) {
    const source = tempFolder();
    writeFileSync(join(source, 'log.txt'), 'VALID');
    const results = withResults(source, [{ path: 'log.txt', bytes: 5, sha256 }]);
    return await remoteScene({ lg: { ...results, ...behaviour } });
  }

  it('may end in a slash', async () => {
    const { context, hosts, folder } = await validRun();
    const output = `${join(folder, 'new', 'out')}//`;
    const running = measure(context, { ...measureOptions(folder), output });
    (await theRun(hosts.lg)).end(0);
    expect(await running).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(output, 'log.txt'), 'utf8')).toBe('VALID');
    expect(readdirSync(output)).toEqual(['log.txt']);
    expect(hosts.lg.verbs.at(-1)).toBe('remove');
  });

  it('keeps what came into it since the run began, and says where the results are', async () => {
    const { context, hosts, folder } = await validRun();
    const running = measure(context, measureOptions(folder));
    const ended = expect(running).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: expect.stringMatching(
        /out is not empty: it has other\.txt;.* is in .*out\/\.fetching-\w+, and on lg in .*results\/run-/,
      ),
    });
    const run = await theRun(hosts.lg);
    writeFileSync(join(folder, 'out', 'other.txt'), 'of somebody else');
    run.end(0);
    await ended;
    expect(readFileSync(join(folder, 'out', 'other.txt'), 'utf8')).toBe('of somebody else');
    const partial = readdirSync(join(folder, 'out')).find((name) => name !== 'other.txt') ?? '';
    expect(readFileSync(join(folder, 'out', partial, 'log.txt'), 'utf8')).toBe('VALID');
    expect(hosts.lg.verbs).not.toContain('remove');
    expect(hosts.a.call_('start').words).toContain('stop');
  });

  it('is refused to a second run while a first one goes on', async () => {
    const { context, hosts, folder } = await validRun();
    const running = measure(context, measureOptions(folder));
    const run = await theRun(hosts.lg);
    const asked = hosts.lg.calls.length;
    await expect(measure(context, measureOptions(folder))).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: expect.stringMatching(/out is not empty: another run brings its results there/),
    });
    expect(hosts.lg.calls.length).toBe(asked);
    run.end(0);
    await running;
    expect(readFileSync(join(folder, 'out', 'log.txt'), 'utf8')).toBe('VALID');
  });

  it.each([
    ['afile', /afile cannot hold the results: there is a file of this name$/],
    ['afile/x', /afile\/x cannot hold the results: a part of the path is not a folder$/],
  ])('%s is refused before a host is asked', async (name, message) => {
    const { context, hosts, folder } = await remoteScene();
    writeFileSync(join(folder, 'afile'), '');
    const running = measure(context, { ...measureOptions(folder), output: join(folder, name) });
    await expect(running).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: expect.stringMatching(message),
    });
    expect(hosts.a.verbs).toEqual([]);
  });

  it('is not left behind where nothing came', async () => {
    const { context, folder } = await remoteScene({ b: { facts: (call) => call.end(255) } });
    const output = join(folder, 'new', 'out');
    const running = measure(context, { ...measureOptions(folder), output });
    await expect(running).rejects.toMatchObject({ code: 'ERR_HOST' });
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });

  it('spoils no result where the copy on the host cannot be removed', async () => {
    const { context, hosts, said, folder } = await validRun({ remove: (call) => call.end(255) });
    const running = measure(context, measureOptions(folder));
    (await theRun(hosts.lg)).end(0);
    expect(await running).toMatchObject({ exitCode: 0 });
    expect(said.at(-1)).toMatch(
      /^\[lg\] a copy of the results stays in .*results\/run-.*no way to it/,
    );
  });
});
