import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { encodePart } from '../../../shared/wire/part-codec.ts';
import { decodeResponses, isResponses } from '../../../shared/wire/responses-codec.ts';
import {
  decodeSutMessage,
  encodeLoadGenMessage,
  INFER_METHOD,
  TOKEN_STREAM_FEATURE,
} from '../../../shared/wire/sut-contract.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { SutNodeProcess } from '../../scenes/host/processes.ts';
import { wholeSample } from '../../scenes/sut-node/sut-client.ts';
import { RAW_OPEN } from '../../scenes/sut-node/sut-node.ts';
import { CALLING_MAKES, CallingClient } from './calling-client.ts';
import { makeSutStubs, PYTHON, pythonObstacle } from './python.ts';

// Goal: a client that nobody here wrote reads streams of tokens by proto/ alone. Method: gRPC's own
// core with protobuf's classes of the .proto against a delay node, whose tokens are known, and a
// decoder that generates; then the transports of other makes.

const WHY_NOT = pythonObstacle();
if (WHY_NOT !== undefined) console.log(`token streams of Python are skipped: ${WHY_NOT}`);

const CLIENT: string = fileURLToPath(new URL('token-streams.py', import.meta.url));

interface SeenResponse {
  readonly id: number;
  /** `first`, `tokens`, `completed`, or why it failed. */
  readonly what: string;
  readonly tokens: readonly number[];
  readonly count?: number;
}

async function streamsOf(benchmark: string, args: readonly string[], prompts: readonly number[][]) {
  const node = await SutNodeProcess.start('sut-a', ['--benchmark', benchmark, ...args]);
  onTestFinished(async () => {
    await node.stop();
  });
  const { stdout, stderr, status } = spawnSync(PYTHON, [CLIENT, node.address, benchmark], {
    input: JSON.stringify(prompts),
    env: { ...process.env, PYTHONPATH: makeSutStubs(suiteFolder()) },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  const { features, seen } = JSON.parse(stdout) as {
    readonly features: readonly string[];
    readonly seen: readonly SeenResponse[];
  };
  const samples = prompts.map((_, i) => seen.filter(({ id }) => id === 100 + i));
  return { features, samples };
}

const DELAYED = ['--delay-tokens', '5', '--delay-first-token', '20ms', '--delay-token', '50ms'];
const DELAYED_IDS = [1000, 1001, 1002, 1003, 1004];

describe.skipIf(WHY_NOT !== undefined)("a client on gRPC's own core", () => {
  it('reads the tokens of a delay node as they come', async () => {
    const args = [...DELAYED, '--delay-token-type', 'int32'];
    const { features, samples } = await streamsOf('delay', args, [[1], [2]]);
    expect(features).toContain('token-stream');
    for (const [first, ...rest] of samples) {
      expect(first).toMatchObject({ what: 'first', tokens: [1000] });
      const last = rest.pop();
      expect(last).toMatchObject({ what: 'completed', count: 5, tokens: DELAYED_IDS });
      expect(rest.every(({ what }) => what === 'tokens')).toBe(true);
      // The last token comes with the response.
      expect(rest.flatMap((told) => told.tokens)).toEqual(DELAYED_IDS.slice(1, -1));
    }
  });

  it('reads the tokens of a decoder that generates, which its responses repeat', async () => {
    const args = ['--model', 'standin', '--standin-cost', '0.0001'];
    const prompts = [
      [1, 15, 27, 301],
      [1, 7, 9, 44, 102],
    ];
    const { features, samples } = await streamsOf('llama2-70b', args, prompts);
    expect(features).toContain('token-stream');
    for (const responses of samples) {
      const last = responses.at(-1);
      expect(last?.what).toBe('completed');
      expect(last?.count).toBe(last?.tokens.length);
      expect(last?.count).toBeGreaterThan(1);
      expect(responses[0]).toMatchObject({ what: 'first', tokens: last?.tokens.slice(0, 1) });
      const told = responses.slice(0, -1).flatMap(({ tokens }) => tokens);
      expect(told.length).toBeGreaterThan(1);
      expect(told).toEqual(last?.tokens.slice(0, told.length));
    }
  });
});

for (const { name, obstacle, command } of CALLING_MAKES) {
  if (obstacle !== undefined) console.log(`token streams of ${name} are skipped: ${obstacle}`);

  it.skipIf(obstacle !== undefined)(`${name} hands on each token as it comes`, async () => {
    const args = ['--benchmark', 'delay', ...DELAYED, '--delay-token-type', 'int32'];
    const node = await SutNodeProcess.start('sut-a', args);
    onTestFinished(async () => {
      await node.stop();
    });
    const client = new CallingClient(command(suiteFolder()), node.address);
    onTestFinished(() => client.kill());
    await client.open(INFER_METHOD.path);
    const open = { ...RAW_OPEN, benchmark: 'delay', features: [TOKEN_STREAM_FEATURE] };
    await client.send(encodeLoadGenMessage({ open: { ...open, tokenLatencies: true } }));
    const opened = decodeSutMessage((await client.receive()) as Buffer);
    expect(opened).toMatchObject({ opened: { features: [TOKEN_STREAM_FEATURE] } });
    const samples = [wholeSample(7, Buffer.alloc(4))];
    await client.send(encodePart({ query: 0, querySampleCount: 1, samples }));
    const seen: number[][] = [];
    let response: readonly number[] | undefined;
    while (response === undefined) {
      const message = (await client.receive()) as Buffer;
      if (!isResponses(message)) continue;
      const { firstTokens, tokens, completed } = decodeResponses(message);
      seen.push(...[...firstTokens, ...tokens].map(({ payload }) => idsOf(payload)));
      response = completed[0] && idsOf(completed[0].payload);
    }
    expect(seen).toEqual(DELAYED_IDS.slice(0, -1).map((id) => [id]));
    expect(response).toEqual(DELAYED_IDS);
  });
}

function idsOf(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.getInt32(4 * i, true));
}
