import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { compareOipWays } from '../../../qdl/protocols/oip/prepare/compare-ways.ts';
import type { OipMethod } from '../../../shared/wire/oip/request-plan.ts';
import { suiteFolder, tempFolder } from '../../scenes/host/folders.ts';
import { longhaulHere } from '../../scenes/host/processes.ts';
import {
  dynamoResponse,
  echoOf,
  fakeOipServers,
  type OipBehaviour,
} from '../../scenes/oip-server/fake-oip-server.ts';
import { OIP_PAYLOADS, oipPlan, oipSettings } from '../../scenes/oip-server/oip-qdl.ts';

// Goal: a server with many workers is not measured as one with a single worker because of the way
// of its requests. Method: servers whose workers are timers, so that they are as many as the test
// says however busy the machine is.

type OnInfer = NonNullable<OipBehaviour['onInfer']>;

const ANSWER_MS = 40;
const respond: OnInfer = (request, answer) => answer.respond(echoOf(request));

/** Any number of workers. */
const beside: OnInfer = async (request, answer) => {
  await wait(ANSWER_MS);
  answer.respond(echoOf(request));
};

/** One worker for all streams and calls. */
function oneWorker(): OnInfer {
  let last: Promise<unknown> = Promise.resolve();
  return (request, answer) => {
    const done = last.then(() => wait(ANSWER_MS)).then(() => answer.respond(echoOf(request)));
    last = done;
    return done;
  };
}

/** One worker, which takes all that waits as one batch. */
function oneBatch(): OnInfer {
  let batch: Promise<unknown> | undefined;
  return async (request, answer) => {
    batch ??= wait(ANSWER_MS).finally(() => {
      batch = undefined;
    });
    await batch;
    answer.respond(echoOf(request));
  };
}

async function compare(behaviour: OipBehaviour, calls: OipMethod = 'unary') {
  const list = await fakeOipServers(behaviour);
  const payload = OIP_PAYLOADS.payloadOf(1);
  const settings = oipSettings(list, oipPlan('stream'), { readyTimeoutMs: 5_000 });
  const [compared] = await compareOipWays(settings, { calls, payload });
  return { ...compared, inferCount: list[0]?.requests.length };
}

describe('several requests at once, on one stream and by calls', () => {
  it.each<[string, OipBehaviour, boolean]>([
    ['with many workers, but for one stream', { onInfer: beside, streamsInTurn: true }, true],
    ['with many workers', { onInfer: beside }, false],
    ['with one worker', { onInfer: oneWorker() }, false],
    ['with one worker, in turn on a stream', { onInfer: oneWorker(), streamsInTurn: true }, false],
    ['that makes batches', { onInfer: oneBatch() }, false],
    ['that makes batches, but not on a stream', { onInfer: oneBatch(), streamsInTurn: true }, true],
  ])('tell of a server %s whether the stream is its limit', async (_what, behaviour, is) => {
    const compared = await compare(behaviour);
    expect(compared.isStreamTheLimit).toBe(is);
    expect(compared.trialCount).toBe(compared.inferCount);
    // One after the other, four take long enough; rounds end when three agree.
    expect(compared.requestCount).toBeGreaterThanOrEqual(2);
    expect(compared.trialCount).toBeLessThanOrEqual(2 * (2 + 4 + 8 + 5 * 16));
  });

  it('are more of a server that answers at once, whose stream is no limit', async () => {
    const compared = await compare({ onInfer: respond });
    expect(compared.isStreamTheLimit).toBe(false);
    expect(compared.requestCount).toBeGreaterThan(2);
  });

  it('do not wait for one another where a connection has one call at once', async () => {
    const compared = await compare({ onInfer: beside, callsPerConnection: 1 });
    expect(compared.isStreamTheLimit).toBe(false);
    expect([compared.streamFailure, compared.callsFailure]).toEqual([undefined, undefined]);
  });

  it('are asked on a stream of their own each', async () => {
    const behaviour = { onInfer: beside, streamsInTurn: true };
    const compared = await compare(behaviour, 'stream-per-request');
    expect(compared).toMatchObject({ isStreamTheLimit: true, isInTurn: true });
  });

  it('tell why they failed', async () => {
    let asked = 0;
    const alone: OnInfer = async (request, answer) => {
      asked += 1;
      if (asked > 2) answer.endWith(status.RESOURCE_EXHAUSTED, 'one at a time');
      else await beside(request, answer);
    };
    const broken = await compare({ onInfer: alone });
    expect(broken).toMatchObject({
      isStreamTheLimit: true,
      streamFailure: expect.stringMatching(/RESOURCE_EXHAUSTED: one at a time/) as string,
    });
    const refusing = await compare({
      onInfer: (_, answer) => answer.refuse(status.INVALID_ARGUMENT, 'no calls'),
    });
    expect(refusing).toMatchObject({
      isStreamTheLimit: false,
      callsFailure: expect.stringMatching(/no calls/) as string,
    });
  });
});

const DELTAS = ['a', ' b', ' c'];
const DELTA_MS = 8;

/** Answers as NVIDIA Dynamo does: by a call all at once, and streaming is for streams. */
const dynamoAnswer: OnInfer = async ({ id, rawInputContents }, answer) => {
  if (rawInputContents[1]?.[0] !== 1) {
    await wait(DELTAS.length * DELTA_MS);
    answer.respond(dynamoResponse(id, DELTAS.join(''), 'stop'));
    return;
  }
  if (answer.isCall) {
    answer.refuse(status.INVALID_ARGUMENT, 'Streaming is not supported for this endpoint');
    return;
  }
  for (const [i, delta] of DELTAS.entries()) {
    await wait(DELTA_MS);
    answer.respond(dynamoResponse(id, delta, i === DELTAS.length - 1 ? 'length' : ''));
  }
};

/**
 * A server of language models as NVIDIA Dynamo is one: no ServerMetadata and no ServerLive,
 * ModelConfig without a policy of responses, streamed answers without a mark of the end, one
 * request of a stream at a time. Calls run beside each other.
 */
async function dynamoLike() {
  const text = { name: 'text_output', datatype: 'BYTES', shape: [-1] };
  const counts = { now: 0, most: 0 };
  const [{ address }] = await fakeOipServers({
    model: {
      ...{ name: 'qwen', versions: ['1'], platform: 'dynamo' },
      inputs: [
        { name: 'text_input', datatype: 'BYTES', shape: [1] },
        { name: 'streaming', datatype: 'BOOL', shape: [1] },
      ],
      outputs: [text, { ...text, name: 'finish_reason' }],
    },
    config: { name: 'qwen' },
    without: ['ServerMetadata', 'ServerLive', 'ServerReady', 'ModelReady'],
    streamsInTurn: true,
    onInfer: async (request, answer) => {
      counts.now += 1;
      counts.most = Math.max(counts.most, counts.now);
      await dynamoAnswer(request, answer);
      counts.now -= 1;
    },
  });
  return { address, counts };
}

describe('run against a server whose streams are handled one request after the other', () => {
  async function run(
    server: { readonly address: string },
    isStreaming: boolean,
    flags: readonly string[] = [],
  ) {
    const data = join(tempFolder(), 'q.jsonl');
    writeFileSync(data, `${JSON.stringify({ text_input: ['hello'], streaming: [isStreaming] })}\n`);
    const output = suiteFolder();
    const said = await longhaulHere([
      ...['run', '--sut', `oip://${server.address}`, '--model', 'qwen', '--data', `jsonl:${data}`],
      ...['--scenario', 'Server', '--target-qps', '100', '--target-latency', '10s'],
      ...['--min-duration', '1s', '--min-query-count', '1', '--output', output, ...flags],
    ]);
    const audit = JSON.parse(readFileSync(join(output, 'network_audit.json'), 'utf8')) as {
      readonly server: { readonly plan: { readonly method: string }; readonly notes: string[] };
    };
    return { ...said, audit };
  }

  it.each([
    [false, 'unary', 'by ModelInfer calls'],
    [true, 'stream-per-request', 'on a ModelStreamInfer stream per request'],
  ])(
    'takes another way, and says which and why (streaming %s)',
    async (isStreaming, method, how) => {
      const server = await dynamoLike();
      const { stdout, stderr, audit } = await run(server, isStreaming);
      expect(stdout, stderr).toContain(`queries went by the Open Inference Protocol, ${how}`);
      expect(stdout).toMatch(/handles the requests of one stream one after the other/);
      expect(stdout).toMatch(/(\d+) queries issued, \1 completed, 0 lost.*0 contract errors/);
      expect(audit.server.plan.method).toBe(method);
      expect(audit.server.notes.join()).toMatch(
        /one after the other: before the run \d+ concurrent requests/,
      );
      expect(server.counts.most).toBeGreaterThan(1);
    },
  );

  it('keeps the stream that was requested, and says what it limits', async () => {
    const server = await dynamoLike();
    const { stdout, audit } = await run(server, true, ['--oip-method', 'stream']);
    expect(stdout).toMatch(/the stream limits 127\S+ to one concurrent request:/);
    expect(stdout).toMatch(/--oip-method stream-per-request avoids this limit/);
    expect(audit.server.plan.method).toBe('stream');
  });
});
