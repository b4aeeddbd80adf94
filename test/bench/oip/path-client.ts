import {
  createQueryDispatchLibrary,
  type DispatchSettings,
  defaultDispatchSettings,
  type QueryDispatchLibrary,
} from '../../../qdl/index.ts';
import { describeOipModels } from '../../../qdl/protocols/oip/node/model-facts.ts';
import type { OipDispatch } from '../../../qdl/protocols/oip/settings/oip-settings.ts';
import {
  OIP_METHODS,
  OIP_SERVICE_NAME,
  type OipMethod,
  type OipRequestPlan,
} from '../../../shared/wire/oip/request-plan.ts';
import { nullQdl, requireEqualLedgers } from '../null-path.ts';
import type { ClientJob } from '../wire/measured.ts';
import { runClient } from '../wire/run-client.ts';
import { type PathBenchmark, pathStore } from './path-stores.ts';

// Goal: one measurement of the whole path of a query to one and the same SUT node, by longhaul's
// protocol or by the Open Inference Protocol, in a fresh process. Started by oip-bench.ts with the
// benchmark, the protocol and the job; prints JSON.

/** No path is faster than this. */
const QUERIES_PER_SECOND_MAX = 400_000;

const [benchmark, protocol, jobText] = process.argv.slice(2) as [
  PathBenchmark,
  OipMethod | 'native',
  string,
];
const job = JSON.parse(jobText) as ClientJob;
const store = await pathStore(benchmark, job);
const isNative = !OIP_METHODS.includes(protocol as OipMethod);
const qdl = isNative
  ? await nullQdl(job.address, store, { benchmark, ...job.channels })
  : await oipQdl(protocol as OipMethod);
await qdl.connect();
await runClient(qdl, job, QUERIES_PER_SECOND_MAX, () => {
  if (isNative) requireEqualLedgers(qdl);
});

/**
 * The QDL as a run of one sample per query plans it: raw contents. The node takes the benchmark's
 * key for its model.
 */
async function oipQdl(method: OipMethod): Promise<QueryDispatchLibrary> {
  const model = { name: benchmark, version: '' };
  const protocol: OipDispatch = { name: 'oip', service: OIP_SERVICE_NAME, model };
  const settings: DispatchSettings = { ...defaultDispatchSettings([job.address]), protocol };
  const [facts] = await describeOipModels(settings, () => {});
  const [input] = facts?.inputs ?? [];
  if (facts === undefined || input === undefined) throw new Error('the node reports no input');
  const sampleBytes = store.payloadOf(0).length;
  const own = input.shape.slice(1);
  const plan: OipRequestPlan = {
    model,
    payloadForm: 'tensors',
    inputs: [{ ...input, sampleShape: own.includes(-1) ? [sampleBytes] : own, sampleBytes }],
    hasBatchAxis: true,
    samplesPerRequest: 1,
    outputs: facts.outputs,
    method,
  };
  return createQueryDispatchLibrary({ ...settings, protocol: { ...protocol, ...{ plan } } }, store);
}
