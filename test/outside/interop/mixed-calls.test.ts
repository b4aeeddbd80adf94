import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { encodePart } from '../../../shared/wire/part-codec.ts';
import { decodeResponses, isResponses } from '../../../shared/wire/responses-codec.ts';
import {
  decodeSutMessage,
  encodeLoadGenMessage,
  INFER_METHOD,
  SUT_METHODS,
} from '../../../shared/wire/sut-contract.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import type { SutNodeProcess } from '../../scenes/host/processes.ts';
import { HAS_OPENSSL } from '../../scenes/sut-node/certificates.ts';
import { type NodePair, startNodePair } from '../../scenes/sut-node/node-pair.ts';
import { wholeSample } from '../../scenes/sut-node/sut-client.ts';
import { RAW_OPEN } from '../../scenes/sut-node/sut-node.ts';
import { CALLING_MAKES, CallingClient } from './calling-client.ts';

// Goal: a client of any make of gRPC may make the calls of a SUT node in any order on one channel,
// though the node serves Infer and the other calls on connections of their own. Method: clients on
// grpc-js, gRPC's core and grpc-go; each order of Infer and unary calls, plain and by TLS; none of
// the calls may fail.

const { Name, Ledger } = SUT_METHODS;
const RUN_ID = 'mixed';
const SAMPLES = 3;
const PAYLOAD: Buffer = Buffer.alloc(150_528, 7);

let nodes: NodePair;

beforeAll(async () => {
  nodes = await startNodePair();
});

afterAll(() => nodes.stop());

async function askName(client: CallingClient, times = 1): Promise<void> {
  const answers = await client.ask(Name.path, Name.requestSerialize({ nonce: 1 }), times);
  expect(answers).toHaveLength(times);
  for (const answer of answers) {
    expect(Name.responseDeserialize(answer)).toMatchObject({ name: 'sut-a' });
  }
}

async function askLedger(client: CallingClient, runId: string, sampleCount: number): Promise<void> {
  const [answer] = await client.ask(Ledger.path, Ledger.requestSerialize({ runId }));
  expect(Ledger.responseDeserialize(answer as Buffer)).toMatchObject({ sampleCount });
}

async function openInfer(client: CallingClient, runId: string): Promise<void> {
  await client.open(INFER_METHOD.path);
  await client.send(encodeLoadGenMessage({ open: { ...RAW_OPEN, benchmark: 'null', runId } }));
  const message = await client.receive();
  expect(decodeSutMessage(message as Buffer)).toHaveProperty('opened');
}

/** One query, and its responses. */
async function infer(client: CallingClient, query: number): Promise<void> {
  const ids = Array.from({ length: SAMPLES }, (_, i) => query * SAMPLES + i);
  const samples = ids.map((id) => wholeSample(id, PAYLOAD));
  await client.send(encodePart({ query, querySampleCount: SAMPLES, samples }));
  const completed: number[] = [];
  while (completed.length < SAMPLES) {
    const message = (await client.receive()) as Buffer;
    if (isResponses(message)) {
      completed.push(...decodeResponses(message).completed.map(({ id }) => id));
    }
  }
  expect(completed.toSorted((a, b) => a - b)).toEqual(ids);
}

async function closeInfer(client: CallingClient): Promise<void> {
  await client.send(encodeLoadGenMessage({ close: {} }));
  await client.end();
  while ((await client.receive()) !== undefined);
}

const ways = [
  { way: 'plain', isTls: false },
  { way: 'by TLS', isTls: true },
];

for (const make of CALLING_MAKES) {
  const { name, obstacle } = make;
  if (obstacle !== undefined) console.log(`calls of ${name} are skipped: ${obstacle}`);
  let command: readonly string[] | undefined;

  describe.skipIf(obstacle !== undefined).each(ways)(`a channel of ${name}, $way`, ({ isTls }) => {
    const isSkipped = isTls && !HAS_OPENSSL;

    function client(): CallingClient {
      command ??= make.command(suiteFolder());
      const { address } = (isTls ? nodes.withTls : nodes.plain) as SutNodeProcess;
      const one = new CallingClient(command, address, isTls ? nodes.files?.ca : undefined);
      onTestFinished(() => one.kill());
      return one;
    }

    it.skipIf(isSkipped)('may begin with a unary call', async () => {
      const one = client();
      const runId = `${RUN_ID}-${name}-${isTls}-1`;
      await askName(one);
      await openInfer(one, runId);
      await infer(one, 0);
      await askName(one);
      await infer(one, 1);
      await closeInfer(one);
      await askLedger(one, runId, 2 * SAMPLES);
    });

    it.skipIf(isSkipped)('may begin with Infer and make unary calls beside it', async () => {
      const one = client();
      const runId = `${RUN_ID}-${name}-${isTls}-2`;
      await openInfer(one, runId);
      await infer(one, 0);
      await askName(one, 20);
      await askName(one);
      await infer(one, 1);
      await closeInfer(one);
      await askLedger(one, runId, 2 * SAMPLES);
    });

    it.skipIf(isSkipped)('may begin with Infer and make unary calls behind it', async () => {
      const one = client();
      const runId = `${RUN_ID}-${name}-${isTls}-3`;
      await openInfer(one, runId);
      await infer(one, 0);
      await closeInfer(one);
      await askName(one, 20);
      await askLedger(one, runId, SAMPLES);
    });
  });
}
