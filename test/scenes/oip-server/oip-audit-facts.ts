import type { AuditFacts } from '../../../loadgen-node/observe/network-audit.ts';
import type {
  NodeEvidence,
  RequestEvidence,
  ServerEvidence,
  ServerGrowth,
} from '../../../shared/evidence/evidence-schema.ts';
import {
  auditFacts,
  directPath,
  ledgerCounts,
  nameCall,
  nodeEvidence,
} from '../simulated-run/audit-facts.ts';

/**
 * Statistics of a server that executed 100 requests of one sample in 25 batches: 2 ms in the queue,
 * 4 ms in the model.
 */
export function oipStatistics(fields: Partial<ServerGrowth> = {}): ServerGrowth {
  const each = (ns: number) => ({ count: 100, ns: 100 * ns });
  return {
    inferenceCount: 100,
    executionCount: 25,
    success: each(6.6e6),
    fail: { count: 0, ns: 0 },
    queue: each(2e6),
    computeInput: each(0.4e6),
    computeInfer: each(4e6),
    computeOutput: each(0.2e6),
    ...fields,
  };
}

/** A server that answered 100 requests of one sample. */
export function oipNode(
  name: string,
  fields: Partial<ServerEvidence> = {},
  ours: Partial<NodeEvidence['ours']> = {},
): NodeEvidence {
  const counted = { digestedSampleCount: 0, payloadDigest: '', ...ours };
  return nodeEvidence(name, {
    description: null,
    streams: [],
    digestPerMillion: 0,
    ours: ledgerCounts(counted),
    theirs: null,
    ledgerMissing: 'the Open Inference Protocol has no counts',
    ledgerIdentity: '',
    server: {
      serverName: `server of ${name}`,
      serverVersion: '2.60.0',
      extensions: ['statistics'],
      modelName: 'resnet50',
      modelVersions: ['1'],
      platform: 'onnxruntime_onnx',
      inputs: [{ name: 'input', datatype: 'FP32', shape: [-1, 3, 224, 224] }],
      outputs: [{ name: 'label', datatype: 'INT64', shape: [-1] }],
      requestCount: 100,
      trialCount: 1,
      statistics: oipStatistics(),
      ...fields,
    },
  });
}

/** Evidence of a run with one sample per request. */
export const OIP_EVIDENCE: RequestEvidence = {
  service: 'inference.GRPCInferenceService',
  plan: {
    model: { name: 'resnet50', version: '' },
    payloadForm: 'tensors',
    inputs: [{ name: 'input', datatype: 'FP32', sampleShape: [3, 224, 224], sampleBytes: 602_112 }],
    hasBatchAxis: true,
    samplesPerRequest: 1,
    outputs: [{ name: 'label', datatype: 'INT64', shape: [-1] }],
    method: 'unary',
  },
  notes: [],
};

/** A run over the Open Inference Protocol in which nothing contradicts a rule. */
export function oipFacts(nodes: readonly NodeEvidence[] = [oipNode('sut-a')]): AuditFacts {
  const facts = auditFacts(nodes);
  const path = directPath({
    sut: null,
    requestHeaders: null,
    responseHeaders: [
      { name: 'content-type', value: 'application/grpc' },
      { name: 'grpc-accept-encoding', value: 'identity, deflate, gzip' },
    ],
  });
  const call = nameCall(nodes, { identity: null, path });
  return {
    ...facts,
    run: { ...facts.run, protocol: 'oip' },
    server: OIP_EVIDENCE,
    nameCalls: [call, call],
  };
}
