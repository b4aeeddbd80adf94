import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaul } from '../../scenes/host/processes.ts';
import { HAS_OPENSSL, TestCertificates } from '../../scenes/sut-node/certificates.ts';
import {
  type OipRun,
  QUERIES,
  runAgainst,
  SERVER,
  SERVER_QUERIES,
  startServicer,
} from './our-client.ts';
import { makeOwnStubs, pythonObstacle } from './python.ts';
import type { ServicerProcess } from './servicer-process.ts';

// Goal: longhaul measures servers that are not its own, with their habits, and tells in words what
// it cannot measure. Method: the compiled command line against servicer.py on gRPC's own core;
// counts of both ends are compared.
const WHY_NOT = pythonObstacle();
if (WHY_NOT !== undefined) console.log(`our client against the servicer is skipped: ${WHY_NOT}`);

describe.skipIf(WHY_NOT !== undefined)('longhaul and a server of another make', () => {
  let stubs: string;
  beforeAll(() => {
    stubs = makeOwnStubs(suiteFolder());
  });

  const start = (options = {}): Promise<ServicerProcess> => startServicer(stubs, options);

  describe('by ModelInfer', () => {
    it.each([
      'double',
      'fixed',
      'two',
      'length',
      'echo-fp16',
      'echo-bf16',
      'echo-int64',
      'echo-bool',
      'echo-uint64',
      'echo-bytes',
    ])('gets every answer of model %s, raw', async (model) => {
      const run = await runAgainst([await start()], model, ['--oip-method', 'unary']);
      expect(run.code, run.stderr).toBe(0);
      const [seen] = run.seen;
      expect(seen?.unary).toBeGreaterThan(QUERIES);
      expect(seen?.unary).toBeLessThan(QUERIES + 5);
      expect(seen).toMatchObject({ messages: 0, typed: 0, emptyIds: 0 });
      expect(run.log.get('result_validity')).toBe('VALID');
    });

    it.each([
      'double',
      'two',
      'length',
      'echo-int64',
      'echo-uint64',
      'echo-int8',
      'echo-uint16',
      'echo-bool',
      'echo-fp64',
    ])('falls back to typed contents of model %s and says so', async (model) => {
      const server = await start({ raw: 'refuse' });
      const run = await runAgainst([server], model, ['--oip-method', 'unary']);
      expect(run.code, run.stderr).toBe(0);
      expect(run.seen[0]).toMatchObject({ raw: 1 });
      expect(run.seen[0]?.typed).toBeGreaterThan(QUERIES);
      expect(run.stdout + run.stderr).toMatch(/raw_input_contents are not supported/);
    });

    it('falls back where a server does not read raw contents, and says it of FP16', async () => {
      const silent = await start({ raw: 'ignore' });
      const run = await runAgainst([silent], 'double', ['--oip-method', 'unary']);
      expect(run.code, run.stderr).toBe(0);
      expect(run.seen[0]?.typed).toBeGreaterThan(QUERIES);
      const half = await runAgainst([await start({ raw: 'ignore' })], 'echo-fp16');
      expect(half.code).not.toBe(0);
      expect(half.stderr).toMatch(/FP16|raw/);
    });

    it('reads outputs by their names, whatever their order and number', async () => {
      const server = await start({ reverseOutputs: true });
      const run = await runAgainst([server], 'two', ['--oip-method', 'unary']);
      expect(run.code, run.stderr).toBe(0);
    });

    it('has many calls open at once', async () => {
      const method = ['--oip-method', 'unary', ...SERVER];
      const run = await runAgainst([await start({ delayMs: 5 })], 'double', method);
      expect(run.code, run.stderr).toBe(0);
      expect(run.seen[0]?.unary).toBeGreaterThan(SERVER_QUERIES);
      expect(run.seen[0]?.concurrentMax).toBeGreaterThan(2);
    });

    it('joins samples of one query in a request, and never those of two', async () => {
      const load = ['--scenario', 'Offline', '--target-qps', '100', '--oip-batch', '4'];
      const scenario = [...load, '--oip-method', 'unary'];
      const run = await runAgainst([await start()], 'double', scenario);
      expect(run.code, run.stderr).toBe(0);
      expect(run.seen[0]?.batches['4']).toBeGreaterThan(5);
      const single = ['--scenario', 'SingleStream', '--oip-batch', '4', '--oip-method', 'unary'];
      const one = await runAgainst([await start()], 'double', single);
      expect(one.code, one.stderr).toBe(0);
      // The trial before the run is a full request; the run's queries have one sample each.
      expect(Object.keys(one.seen[0]?.batches ?? {})).toEqual(['1', '4']);
      expect(one.seen[0]?.batches['4']).toBe(1);
    });

    it('explains why the pictures of a benchmark are none that the model takes', async () => {
      const digits = ['--benchmark', 'digits', '--scenario', 'SingleStream'];
      const server = await start();
      const sut = ['run', '--sut', `oip://${server.address}`, '--model', 'digits', ...digits];
      const wrong = await longhaul([...sut, '--output', `${suiteFolder()}/run`]);
      // The servicer's model has pictures of another size: told with both sides, nothing is sent.
      expect(wrong.code).not.toBe(0);
      expect(wrong.stderr).toMatch(/48/);
      expect(wrong.stderr).toMatch(/28/);
    });
  });

  describe('on ModelStreamInfer', () => {
    it('gets every answer on few streams', async () => {
      const method = ['--oip-method', 'stream', ...SERVER];
      const run = await runAgainst([await start()], 'double', method);
      expect(run.code, run.stderr).toBe(0);
      const [seen] = run.seen;
      expect(seen?.messages).toBeGreaterThan(SERVER_QUERIES);
      // Before the run calls and the stream are compared, with 16 requests at once at most.
      expect(seen?.unary).toBeLessThan(SERVER_QUERIES);
      expect(seen?.emptyIds).toBe(0);
      expect(seen?.streams).toBeLessThan(9);
    });

    it('takes unary calls where the stream is of another kind, or is missing', async () => {
      for (const options of [{ stream: 'plain' }, { missing: ['ModelStreamInfer'] }]) {
        const run = await runAgainst([await start(options)], 'double');
        expect(run.code, run.stderr).toBe(0);
        expect(run.seen[0]?.unary).toBeGreaterThan(QUERIES);
      }
    });

    it('counts errors on a stream as errors of their queries', async () => {
      const run = await runAgainst([await start({ failEvery: 10 })], 'double', [
        ...['--oip-method', 'stream'],
      ]);
      expect(run.code).not.toBe(0);
      expect(run.stdout + run.stderr).toMatch(/fails as the test wants it/);
    });
  });

  describe('of a decoupled model', () => {
    const TOKENS = [3, 7, 1, 5];

    it.each([
      ['an empty response after the last token', { finalOnLast: false }],
      ['the last token itself', { finalOnLast: true }],
    ])('measures tokens whose end is marked by %s', async (_how, options) => {
      const folder = suiteFolder();
      const data = join(folder, 'counts.jsonl');
      writeFileSync(data, TOKENS.map((count) => `{"count":[${count}]}\n`).join(''));
      const conf = join(folder, 'user.conf');
      const settings = ['use_token_latencies = 1', 'ttft_latency = 5000', 'tpot_latency = 5000'];
      writeFileSync(conf, settings.map((line) => `*.Server.${line}\n`).join(''));
      const queries = 60;
      const run = await runAgainst([await start({ ...options, tokenMs: 20 })], 'tokens', [
        ...['--data', `jsonl:${data}`, '--user-conf', conf, '--scenario', 'Server'],
        ...['--target-qps', '10', '--min-query-count', `${queries}`],
      ]);
      // LoadGen's verdict needs more queries than tokens leave time for.
      expectAnswered(run, queries);
      expect(run.seen[0]).toMatchObject({ unary: 0, emptyIds: 0, typed: 0 });
      expect(run.seen[0]?.messages).toBeGreaterThan(queries);
      const first = Number(run.log.get('result_first_token_mean_latency_ns'));
      const perToken = Number(run.log.get('result_time_per_output_token_50.00_percentile_ns'));
      const whole = Number(run.log.get('result_mean_latency_ns'));
      expect(first).toBeGreaterThan(20e6);
      // 4 tokens on average: the first token does not wait for the others.
      expect(whole - first).toBeGreaterThan(40e6);
      expect(perToken).toBeGreaterThan(15e6);
      expect(perToken).toBeLessThan(whole);
    });
  });

  it('sends its token with every call', async () => {
    const token = 'a-token-of-a-test-that-is-long-enough';
    const file = join(suiteFolder(), 'token');
    writeFileSync(file, `${token}\n`);
    for (const method of ['unary', 'stream']) {
      const run = await runAgainst([await start()], 'double', [
        ...['--token-file', file, '--oip-method', method],
      ]);
      expect(run.code, run.stderr).toBe(0);
      expect(run.seen[0]?.authorization).toEqual([`Bearer ${token}`]);
      expect(run.seen[0]?.withoutAuthorization).toBe(0);
      expect(run.stdout + run.stderr).not.toContain(token);
    }
  });

  it('goes by the service name of TorchServe, without names, tensors and raw contents', async () => {
    const service = 'org.pytorch.serve.grpc.openinference.GRPCInferenceService';
    const options = {
      ...{ service, raw: 'ignore', emptyMetadata: true },
      missing: [
        ...['ServerMetadata', 'ModelConfig', 'ModelStatistics', 'RepositoryIndex'],
        'ModelStreamInfer',
      ],
    };
    const run = await runAgainst([await start(options)], 'double', [
      ...['--oip-service', service, '--input-shape', 'x:FP32:-1x4'],
    ]);
    expect(run.code, run.stderr).toBe(0);
    expect(run.seen[0]?.typed).toBeGreaterThan(QUERIES);
    const wrong = await runAgainst([await start(options)], 'double');
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toMatch(/--oip-service/);
  });

  it('tells two servers of one name apart, and warns', async () => {
    const run = await runAgainst([await start(), await start()], 'double', SERVER);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout + run.stderr).toMatch(/share the name/);
    for (const seen of run.seen) expect(seen.unary + seen.messages).toBeGreaterThan(10);
  });

  it('waits for a model, and not for one that there never will be', async () => {
    const late = await runAgainst([await start({ readyAfterS: 3 })], 'double');
    expect(late.code, late.stderr).toBe(0);
    for (const unknownReady of ['false', 'NOT_FOUND', 'UNKNOWN']) {
      const begin = performance.now();
      const never = await runAgainst([await start({ unknownReady })], 'nothing');
      expect(never.code).not.toBe(0);
      expect(never.stderr).toMatch(/nothing/);
      expect(performance.now() - begin).toBeLessThan(15_000);
    }
    const stays = await runAgainst([await start({ readyAfterS: 1000 })], 'double', [
      ...['--ready-timeout', '2s'],
    ]);
    expect(stays.code).not.toBe(0);
    expect(stays.stderr).toMatch(/not ready/);
  });

  it('tells failed requests by code and words, and completes the others', async () => {
    const run = await runAgainst([await start({ failEvery: 10 })], 'double', [
      ...['--oip-method', 'unary'],
    ]);
    expect(run.code).not.toBe(0);
    expect(run.stdout + run.stderr).toMatch(/fails as the test wants it/);
    expect(run.seen[0]?.unary).toBeGreaterThan(QUERIES);
  });

  it('ends in words and in time when the server dies', async () => {
    const server = await start({ delayMs: 20 });
    const sut = ['--sut', `oip://${server.address}`, '--model', 'double', '--data', 'random'];
    const load = ['--scenario', 'Server', '--target-qps', '100', '--min-duration', '60s'];
    const output = ['--data-count', '8', '--output', `${suiteFolder()}/run`];
    const running = longhaul(['run', ...sut, ...load, ...output]);
    setTimeout(() => server.kill(), 4000);
    const { code, stdout, stderr, durationMs } = await running;
    expect(code).not.toBe(0);
    expect(stdout + stderr).toMatch(new RegExp(server.address.replaceAll('.', '\\.')));
    expect(durationMs).toBeLessThan(30_000);
  });

  describe('in the limits of gRPC servers', () => {
    it('sends one call at a time where the server allows no more', async () => {
      const run = await runAgainst(
        [await start({ arguments: { 'grpc.max_concurrent_streams': 1 }, delayMs: 2 })],
        'double',
        ['--oip-method', 'unary', ...SERVER],
      );
      expect(run.code, run.stderr).toBe(0);
    });

    it('sends large samples, in small windows too', async () => {
      const small = { 'grpc.http2.lookahead_bytes': 65_536, 'grpc.http2.bdp_probe': 0 };
      for (const limits of [{}, small]) {
        const room = { ...limits, 'grpc.max_receive_message_length': -1 };
        const run = await runAgainst([await start({ arguments: room })], 'image', [
          '--oip-method',
          'unary',
        ]);
        expect(run.code, run.stderr).toBe(0);
      }
    });

    it('tells what to do about a message limit', async () => {
      const limits = { 'grpc.max_receive_message_length': 100_000 };
      const run = await runAgainst([await start({ arguments: limits })], 'image');
      expect(run.code).not.toBe(0);
      expect(run.stderr).toMatch(/100000/);
      expect(run.stderr).toMatch(/larger|limit|max/);
    });

    it('stays connected to a server that is silent for 15 s', async () => {
      const run = await runAgainst([await start({ delayMs: 15_000 })], 'double', [
        ...['--min-query-count', '2', '--oip-method', 'unary'],
      ]);
      expectAnswered(run, 2);
    });

    it('and the same on a stream', async () => {
      const run = await runAgainst([await start({ delayMs: 15_000 })], 'double', [
        ...['--min-query-count', '2', '--oip-method', 'stream'],
      ]);
      expectAnswered(run, 2);
    });

    it('ends in words where the server ends connections by their age', async () => {
      const age = { 'grpc.max_connection_age_ms': 1500, 'grpc.max_connection_age_grace_ms': 2000 };
      const run = await runAgainst([await start({ arguments: age })], 'double', [
        ...['--oip-method', 'unary', ...SERVER, '--target-qps', '100'],
      ]);
      expect(run.code).not.toBe(0);
      expect(run.stdout).toMatch(/the server is closing the connection/);
      expect(run.stdout).toMatch(/, 0 lost/);
    });
  });

  it.skipIf(!HAS_OPENSSL)('shows its certificate and its token', async () => {
    const { ca, node, client } = new TestCertificates();
    const tls = { cert: node.cert, key: node.key, clientCa: ca };
    const run = await runAgainst([await start({ tls })], 'double', [
      ...['--tls-ca', ca, '--tls-cert', client.cert, '--tls-key', client.key],
    ]);
    expect(run.code, run.stderr).toBe(0);
    const without = await runAgainst([await start({ tls })], 'double', [
      ...['--tls-ca', ca, '--ready-timeout', '5s'],
    ]);
    expect(without.code).not.toBe(0);
  });

  describe('longhaul probe', () => {
    it('prints models, tensors and how to run', async () => {
      const server = await start();
      const { code, stdout, stderr } = await longhaul(['probe', `oip://${server.address}`]);
      expect(code, stderr).toBe(0);
      for (const words of [/servicer/, /double/, /FP32/, /echo-bf16/, /longhaul run/]) {
        expect(stdout).toMatch(words);
      }
    });

    it('does without methods that a server lacks', async () => {
      const server = await start({
        missing: ['ModelConfig', 'ModelStatistics', 'RepositoryIndex', 'ModelStreamInfer'],
      });
      const named = await longhaul(['probe', `oip://${server.address}`, '--model', 'two']);
      expect(named.code, named.stderr).toBe(0);
      expect(named.stdout).toMatch(/INT64/);
      const all = await longhaul(['probe', `oip://${server.address}`]);
      expect(all.stdout + all.stderr).toMatch(/--model/);
    });
  });
});

/** LoadGen's verdict needs more queries than such a run has time for. */
function expectAnswered({ stdout, stderr }: OipRun, queries: number): void {
  const counts = `${queries} queries issued, ${queries} completed, 0 lost`;
  expect(stdout, stderr).toContain(counts);
}
