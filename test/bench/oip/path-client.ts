import {
  createQueryDispatchLibrary,
  type DispatchSettings,
  defaultDispatchSettings,
  describeOipModels,
  type QueryDispatchLibrary,
} from '../../../qdl/index.ts';
import type { SamplePayloads } from '../../../shared/domain/query-sample-library.ts';
import {
  OIP_METHODS,
  OIP_SERVICE_NAME,
  type OipMethod,
  type OipRequestPlan,
} from '../../../shared/oip/request-plan.ts';
import { nullQdl, nullStore, requireEqualLedgers } from '../null-path.ts';
import type { ClientJob } from '../wire/measured.ts';
import { runClient } from '../wire/run-client.ts';

// Goal: one measurement of the whole path of a query to one and the same SUT node, by longhaul's protocol or by the Open
// Inference Protocol, in a fresh process. Started by path-contestants.ts with the protocol and the job; prints JSON.

/** No path is faster than this. */
const QUERIES_PER_SECOND_MAX = 400_000;

/** The node serves the benchmark under its own name. */
const MODEL = { name: 'null', version: '' };

const [protocol, jobText] = process.argv.slice(2) as [OipMethod | 'native', string];
const job = JSON.parse(jobText) as ClientJob;
const store = nullStore(job.sizeBytes, job.sampleCount);
await store.loadSamplesToRam(Uint32Array.from({ length: job.sampleCount }, (_, i) => i));
const isNative = !OIP_METHODS.includes(protocol as OipMethod);
const qdl = isNative
  ? nullQdl(job.address, store, job.channels)
  : await oipQdl(store, protocol as OipMethod);
await qdl.connect();
await runClient(qdl, job, QUERIES_PER_SECOND_MAX, () => {
  if (isNative) requireEqualLedgers(qdl);
});

/** The QDL as a run of one sample per query plans it: samples of bytes, raw. */
async function oipQdl(payloads: SamplePayloads, method: OipMethod): Promise<QueryDispatchLibrary> {
  const oip = { service: OIP_SERVICE_NAME, model: MODEL };
  const settings: DispatchSettings = { ...defaultDispatchSettings([job.address]), oip };
  const [facts] = await describeOipModels(settings, () => {});
  const [input] = facts?.inputs ?? [];
  if (facts === undefined || input === undefined) throw new Error('the node tells no input');
  const { sizeBytes } = job;
  const plan: OipRequestPlan = {
    model: MODEL,
    payloadForm: 'tensors',
    inputs: [{ ...input, sampleShape: [sizeBytes], sampleBytes: sizeBytes }],
    hasBatchAxis: true,
    samplesPerRequest: 1,
    outputs: facts.outputs,
    method,
  };
  return createQueryDispatchLibrary({ ...settings, oip: { ...oip, plan } }, payloads);
}
