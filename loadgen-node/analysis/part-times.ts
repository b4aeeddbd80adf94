import type { SampleRecords } from '../records/sample-records.ts';
import { LATENCY_PARTS } from './latency-parts.ts';

/** Index of the remainder among the parts. */
export const NETWORK: number = LATENCY_PARTS.indexOf('network');

/**
 * Share of the latency by which told times may exceed it through their rounding alone: seven float32 numbers, each off
 * by 2^-24 of itself at most.
 */
const ROUNDING = 2 ** -21;

/**
 * Takes the latency of a row apart. Instants are LoadGen's own, lengths of time the SUT node's: no clocks are compared.
 * A SUT without a transport has no `send`.
 * @param parts Is filled: ns, in the order of {@link LATENCY_PARTS}. Their sum is the latency.
 * @returns The latency in ns; NaN where the sample was lost or a part is not known.
 */
export function readParts(records: SampleRecords, row: number, parts: Float64Array): number {
  const { service } = records;
  // In range, all of them: one entry per row.
  const scheduledNs = records.scheduledNs[row] as number;
  const issuedNs = records.issuedNs[row] as number;
  const handedNs = records.handedNs[row] as number;
  const latencyNs = (records.completedNs[row] as number) - scheduledNs;
  const dispatch = issuedNs - scheduledNs;
  const send = Number.isNaN(handedNs) ? 0 : handedNs - issuedNs;
  const receive = service.receiveNs[row] as number;
  const queue = service.queueNs[row] as number;
  const batch = service.batchWaitNs[row] as number;
  const preprocess = service.preprocessNs[row] as number;
  const compute = service.computeNs[row] as number;
  const postprocess = service.postprocessNs[row] as number;
  const reply = service.sendNs[row] as number;
  const decode = records.decodeNs[row] as number;
  const told =
    dispatch + send + receive + queue + batch + preprocess + compute + postprocess + reply + decode;
  parts[0] = dispatch;
  parts[1] = send;
  parts[2] = latencyNs - told;
  parts[3] = receive;
  parts[4] = queue;
  parts[5] = batch;
  parts[6] = preprocess;
  parts[7] = compute;
  parts[8] = postprocess;
  parts[9] = reply;
  parts[10] = decode;
  return Number.isNaN(told) ? Number.NaN : latencyNs;
}

/** True where more time was told than passed, beyond what rounding makes of it. */
export function isOvertold(networkNs: number, latencyNs: number): boolean {
  return networkNs < -Math.max(1, latencyNs * ROUNDING);
}
