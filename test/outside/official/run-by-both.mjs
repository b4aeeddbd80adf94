// A test by the C++ LoadGen and the engine that follows it, against a SUT in this process that
// answers at once: the process can run no other test. Usage: node run-by-both.mjs JOB.json; prints
// what came of it as JSON.
import { mkdirSync, readFileSync } from 'node:fs';

const dist = new URL('../../../dist/', import.meta.url);
const load = (path) => import(new URL(path, dist));
const { runTest } = await load('loadgen-node/loadgen/engine/start-test.js');
const { monotonicClock } = await load('loadgen-node/loadgen/engine/monotonic-clock.js');
const { loadgenOf } = await load('loadgen-node/loadgen/settings/loadgen-behaviour.js');
const { readConfFiles } = await load('loadgen-node/loadgen/settings/read-conf-files.js');
const { OWN_LOG_PREFIX } = await load('loadgen-node/loadgen/logs/read/run-folder.js');
const { linkedLoadgen } = await load('loadgen-node/official/link.js');
const { officialDriver, fittingRound, checkoutConf } = await load(
  'loadgen-node/official/official-test.js',
);

/**
 * cacheFolder, outdir; settings: those that differ from the round's, scenario among them;
 * totalSamples, performanceSamples; conduct: answer, lose (the 21st sample and all after it),
 * answer-twice, throw; tokens: of each response, or absent; responseBytes: 4 where absent.
 */
const revive = (key, value) => (key.endsWith('Seed') ? BigInt(value) : value);
const job = JSON.parse(readFileSync(process.argv[2], 'utf8'), revive);

let sink;
let answered = 0;
const sut = {
  name: async () => 'Network SUT: prompt',
  start: async (given) => {
    sink = given;
  },
  stop: async () => {},
  flushQueries() {},
  issueQuery(query) {
    if (job.conduct === 'throw' && query.id > 5) throw new Error('a SUT that throws');
    for (let i = 0; i < query.sampleCount; i += 1) {
      const id = query.firstResponseId + i * query.responseIdStride;
      const index = query.sampleIndices[query.sampleOffset + i * query.responseIdStride];
      const payload = new Uint8Array(job.responseBytes ?? 4);
      new DataView(payload.buffer).setUint32(0, index, true);
      answered += 1;
      if (job.conduct === 'lose' && answered > 20) continue;
      if (job.tokens !== undefined) sink.firstToken(id, payload, sink.nowNs());
      sink.complete(id, payload, job.tokens ?? 0, sink.nowNs());
      if (job.conduct === 'answer-twice') sink.complete(id, payload, job.tokens ?? 0, sink.nowNs());
    }
  },
};

const { cacheFolder, outdir, totalSamples, performanceSamples } = job;
const linked = linkedLoadgen(cacheFolder);
const round = fittingRound(linked, undefined);
const { scenario } = job.settings;
const mlperfConf = checkoutConf(linked);
const base = readConfFiles({ round, model: 'null', scenario, mlperfConf });
const ofRound = base.settings.toTestSettings();
const settings = { ...ofRound, ...job.settings };
mkdirSync(outdir, { recursive: true });
const qsl = {
  name: 'samples of the test',
  totalSampleCount: totalSamples,
  performanceSampleCount: performanceSamples,
  loadSamplesToRam: async () => {},
  unloadSamplesFromRam: async () => {},
};
const test = { linked, settings, unaudited: settings, round, model: 'null', log: { outdir } };
const outcome = await runTest({
  ...{ sut, qsl, clock: monotonicClock, loadgen: loadgenOf(round), ...officialDriver(test, qsl) },
  ...{ log: { outdir, prefix: OWN_LOG_PREFIX }, stallTimeoutNs: 1e9, drainTimeoutNs: 1e9 },
});
const { driver, performance, accuracy, verdicts } = outcome;
const phase = performance ?? accuracy;
const p50 = performance?.summary.sampleLatency.percentiles.find((one) => one.percentile === 0.5);
const result = { driver, endCause: phase?.endCause, counts: phase?.counts, p50Ns: p50?.valueNs };
const text = `${JSON.stringify({ ...result, verdict: verdicts.longhaul })}\n`;
process.stdout.write(text, () => process.exit(0));
