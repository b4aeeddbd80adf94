import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemVerb } from '../../../loadgen-node/cli/system.ts';
import { type FactsFile, factsPathOf } from '../../../loadgen-node/submission/system/facts-file.ts';
import { askSystems, defaultDispatchSettings } from '../../../qdl/index.ts';
import { systemFactsSchema } from '../../../shared/host/system-facts.ts';
import { tempFolder } from '../../scenes/host/folders.ts';
import { SECRETS } from '../../scenes/host/machines.ts';
import { longhaulHere, verbHere } from '../../scenes/host/processes.ts';
import { fakeSutNodes } from '../../scenes/sut-node/fake-sut-node.ts';
import { ask, InferClient } from '../../scenes/sut-node/sut-client.ts';
import { RAW_OPEN, startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: a node tells over the wire what its machine is, where its operator lets it, and the command
// makes a description of what it hears. Method: real nodes without a model, nodes of other make,
// the compiled command.

const SYSTEM = 'DescribeSystem';

/** The command in this process: what it throws, the program turns into its exit code. */
const runHere = ([, , ...args]: readonly string[]): Promise<unknown> =>
  verbHere(systemVerb, ...args);

describe('a node that is asked what machine it runs on', () => {
  it('tells it, but reads nothing while a stream is open', async () => {
    const { address } = await startTestNode({ benchmark: 'null' });
    const client = new InferClient(address, { ...RAW_OPEN, benchmark: 'null' });
    await client.opened;
    await expect(ask(address, SYSTEM, {})).rejects.toMatchObject({
      code: status.FAILED_PRECONDITION,
      details: expect.stringContaining('while a run is going on'),
    });
    client.cancel();
    await expect
      .poll(() => ask(address, SYSTEM, {}).catch(() => undefined))
      .toMatchObject({ name: 'sut-a', facts: { hostname: hostname() } });
    const second = new InferClient(address, { ...RAW_OPEN, benchmark: 'null' });
    onTestFinished(() => second.cancel());
    await second.opened;
    const { facts, gatheredAt } = await ask(address, SYSTEM, {});
    expect(facts?.processor?.threads).toBeGreaterThan(0);
    expect(Math.abs(Date.now() - Date.parse(gatheredAt))).toBeLessThan(60_000);
  });

  it('does not where its operator withholds it, and names the setting', async () => {
    const { address } = await startTestNode({ benchmark: 'null', tellsSystemFacts: false });
    await expect(ask(address, SYSTEM, {})).rejects.toMatchObject({
      code: status.PERMISSION_DENIED,
      details: expect.stringContaining('--system-facts withheld'),
    });
  });

  it.each([
    ['no time', { facts: { hostname: 'a' } }, 'no time at which'],
    ['a broken name', { gatheredAt: '2026-01-01', facts: { hostname: 'a\0' } }, 'at hostname'],
  ])('is refused with %s', async (_case, system, message) => {
    const [{ address }] = await fakeSutNodes({ system });
    await expect(askSystems(defaultDispatchSettings([address]), ['fake'])).rejects.toMatchObject({
      code: 'ERR_WIRE_PROTOCOL',
      message: expect.stringContaining(message),
    });
  });
});

describe('longhaul submission system describe', () => {
  it('describes nodes that tell, that do not want to and that do not know how', async () => {
    const told = await startTestNode({ benchmark: 'null' });
    const silent = await startTestNode({ benchmark: 'null', node: 'b', tellsSystemFacts: false });
    const [old] = await fakeSutNodes({ name: 'old' });
    const output = join(tempFolder(), 'systems', 'acme.json');
    const nodes = [told, silent, old].map(({ address }) => address);
    const args = ['submission', 'system', 'describe', '--sut', nodes.join(), '--output', output];
    const ended = await longhaulHere([...args, '--submitter', 'ACME']);
    expect(ended.stderr).toBe('');
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain(`${output}: 48 fields`);
    expect(ended.stdout).toMatch(/Note: SUT node b told no facts: .*--system-facts withheld/);
    expect(ended.stdout).toMatch(/Note: SUT node old told no facts: .*lacks the method/);
    expect(ended.stdout).toContain('Note: SUT node sut-a and the LoadGen node are one machine');
    expect(ended.stdout).toContain('what was read, of 1 machine\n');
    const description = JSON.parse(readFileSync(output, 'utf8')) as Record<string, string>;
    expect(description).toMatchObject({ submitter: 'ACME', is_network: 'True' });
    const facts = JSON.parse(readFileSync(factsPathOf(output), 'utf8')) as FactsFile;
    expect(systemFactsSchema.parse(facts.loadgen.facts)).toEqual(facts.loadgen.facts);
    expect(facts.sutNodes.map(({ name, gathered }) => [name, gathered !== null])).toEqual([
      ['sut-a', true],
      ['b', false],
      ['old', false],
    ]);
    expect(facts.sutNodes[0]?.gathered?.facts.hostname).toBe(hostname());
    expect(facts.sutNodes[0]?.link).toMatchObject({
      localAddress: '127.0.0.1',
      remoteAddress: '127.0.0.1',
      isSameMachine: true,
    });
    expect(readFileSync(factsPathOf(output), 'utf8')).not.toContain(SECRETS[0]);
  });

  it('does not replace what somebody filled in, and merges it', async () => {
    const folder = tempFolder();
    const output = join(folder, 'acme.json');
    writeFileSync(output, '{"cooling": "Liquid"}');
    const args = ['submission', 'system', 'describe', '--local', '--output', output];
    await expect(runHere(args)).rejects.toMatchObject({
      code: 'ERR_OUTPUT',
      message: expect.stringContaining('--merge'),
    });
    expect(existsSync(factsPathOf(output))).toBe(false);
    const merged = await longhaulHere([...args, '--merge', output]);
    expect(merged.code).toBe(0);
    expect(merged.stdout).toContain(`${output}: 35 fields`);
    const description = JSON.parse(readFileSync(output, 'utf8')) as Record<string, string>;
    expect(description).toMatchObject({ division: 'closed', cooling: 'Liquid' });
    expect(description).not.toHaveProperty('is_network');
  });

  it.each([
    ['neither a node nor --local', [], 'ERR_CONFIG_INVALID', 'say --sut'],
    ['both', ['--sut', '127.0.0.1:1', '--local'], 'ERR_CONFIG_INVALID', 'one of them'],
    ['network alone', ['--local', '--division', 'network'], 'ERR_CONFIG_INVALID', 'distinct'],
    ['edge', ['--sut', 'a:1', '--system-type', 'edge'], 'ERR_CONFIG_INVALID', 'datacenter only'],
    ['a node that does not answer', ['--sut', '127.0.0.1:1'], 'ERR_SUT_UNREACHABLE', 'answers'],
    ['no file to merge', ['--local', '--merge', '/nowhere'], 'ERR_CONFIG_FILE', '/nowhere'],
  ])('refuses %s and writes nothing', async (_case, args, code, message) => {
    const output = join(tempFolder(), 'a.json');
    await expect(
      runHere(['submission', 'system', 'describe', '--output', output, ...args]),
    ).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(existsSync(output)).toBe(false);
  });

  it('refuses an output that no tool would take for a description', async () => {
    const output = join(tempFolder(), 'a.facts.json');
    await expect(
      runHere(['submission', 'system', 'describe', '--local', '--output', output]),
    ).rejects.toThrow('must end in .json');
  });
});
