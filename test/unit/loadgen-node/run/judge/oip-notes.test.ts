import { describe, expect, it } from 'vitest';
import type { NetworkAudit } from '../../../../../loadgen-node/observe/network-audit.ts';
import { serverLines } from '../../../../../loadgen-node/present/text/print-split.ts';
import { composeAudit } from '../../../../../loadgen-node/run/audit/compose-audit.ts';
import {
  modelMarks,
  modelsInWords,
  nodeDetails,
  pathNotes,
  serverModelMarks,
  serverNotes,
} from '../../../../../loadgen-node/run/judge/run-notes.ts';
import { summaryNodes } from '../../../../../loadgen-node/run/keep/run-report.ts';
import type { ServerEvidence } from '../../../../../shared/evidence/evidence-schema.ts';
import { OIP_EVIDENCE, oipFacts, oipNode } from '../../../../scenes/oip-server/oip-audit-facts.ts';
import { auditFacts } from '../../../../scenes/simulated-run/audit-facts.ts';

// Goal: a result over the Open Inference Protocol names servers and models, and claims neither the
// other's ledger nor its model's identity. Method: notes, details and summary of facts by hand.

function auditOf(...nodes: Partial<ServerEvidence>[]): NetworkAudit {
  return composeAudit(oipFacts(nodes.map((fields, i) => oipNode(`sut-${i}`, fields))));
}

const official = (audit: NetworkAudit): NetworkAudit => ({
  ...audit,
  run: { ...audit.run, benchmark: 'resnet50', isOfficialBenchmark: true },
});

it('a run of longhaul has none of it', () => {
  const audit = composeAudit(auditFacts());
  expect([...serverNotes(audit), ...serverModelMarks(audit)]).toEqual([]);
  expect(nodeDetails(audit).map(({ key }) => key)).not.toContain('longhaul_oip_server');
  expect(summaryNodes(audit)[0]).not.toHaveProperty('server');
});

describe('notes', () => {
  it.each<[string, Partial<ServerEvidence>, string]>([
    [
      'server, model and version',
      {},
      'server of sut-0 2.60.0, model resnet50, version 1 on onnxruntime_onnx',
    ],
    [
      'several versions',
      { modelVersions: ['1', '2'], platform: '' },
      'server of sut-0 2.60.0, model resnet50, versions 1, 2',
    ],
    [
      'a server that tells nothing',
      { serverName: '', serverVersion: '', modelVersions: [], platform: '' },
      'a server without a name, model resnet50',
    ],
  ])('name %s', (_what, fields, text) => {
    expect(serverNotes(auditOf(fields))).toEqual([`SUT node sut-0.example:50051 is ${text}`]);
  });

  it('tell servers of different versions, and what the QDL noted', () => {
    const audit = auditOf({}, { serverVersion: '2.59.0' });
    const notes = serverNotes({
      ...audit,
      server: { ...OIP_EVIDENCE, notes: ['raw contents were refused'] },
    });
    expect(notes.slice(2)).toEqual([
      'the servers are of different versions: sut-0.example:50051 2.60.0, sut-1.example:50051 2.59.0: they may not be equally fast',
      'raw contents were refused',
    ]);
  });

  it('say what may stand between, once', () => {
    expect(pathNotes(auditOf({}))).toEqual([
      'between LoadGen and SUT: This protocol does not tell whether a proxy or a load balancer stands before a server: one is found only where it adds headers',
    ]);
  });
});

describe('models', () => {
  it('of a benchmark of MLPerf are never known to be its own', () => {
    const [mark, ...others] = serverModelMarks(official(auditOf({})));
    expect(mark).toMatch(/serves resnet50, which is not known to be resnet50's own model/);
    expect(others).toEqual([]);
    expect(serverModelMarks(auditOf({}))).toEqual([]);
  });

  it('that call themselves stand-ins are marked in any benchmark', () => {
    expect(serverModelMarks(auditOf({ modelName: 'resnet50-standin' }))[0]).toMatch(
      /a stand-in: neither/,
    );
  });

  it('have the digest that their server tells', () => {
    const sha256 = 'ab'.repeat(32);
    const audit = auditOf({ modelSha256: sha256 });
    expect(modelsInWords(audit.nodes).join()).toContain(
      `resnet50, SHA-256 ${sha256} as its server reports`,
    );
    expect(serverModelMarks(official(audit))[0]).toMatch(
      /own model: its digest is a statement of the server/,
    );
    expect(nodeDetails(audit)[0]?.value).toMatchObject({ model_sha256: sha256 });
  });

  it('have no digest, and no mark or record that a SUT node of longhaul has', () => {
    const { nodes } = auditOf({});
    expect(modelsInWords(nodes)).toEqual(['resnet50, of which the server reports no digest']);
    expect(modelMarks(nodes, 'resnet50')).toEqual([]);
  });
});

it('the detail log has server, model and requests of each node', () => {
  expect(nodeDetails(auditOf({}))).toEqual([
    {
      key: 'longhaul_oip_server',
      value: {
        address: 'sut-0.example:50051',
        server: 'server of sut-0',
        server_version: '2.60.0',
        service: 'inference.GRPCInferenceService',
        method: 'unary',
        model: 'resnet50:1',
        platform: 'onnxruntime_onnx',
        requests: '100',
        trial_requests: '1',
      },
    },
  ]);
});

describe('the summary', () => {
  it("has each node under the name that Name gave it, and the statistics as the server's", () => {
    const [with_, without] = summaryNodes(
      auditOf({}, { statistics: null, modelVersions: ['1', '2'] }),
    );
    expect(with_).toMatchObject({
      name: 'sut-0.example:50051',
      model: 'resnet50:1',
      issuedSamples: 100,
      server: { name: 'server of sut-0', version: '2.60.0', statistics: { meanBatchSize: 4 } },
    });
    expect(without).toMatchObject({ model: 'resnet50', server: { statistics: null } });
  });

  it('becomes lines that say whose statistics they are', () => {
    const lines = serverLines(summaryNodes(auditOf({}, { statistics: null })));
    expect(lines).toEqual([
      ['Server', "the server's own statistics: means over the run, with all its clients in them"],
      ['', expect.stringMatching(/^sut-0\.example:50051: 6\.6 ms per request: queue 2 ms/)],
    ]);
    expect(serverLines(summaryNodes(auditOf({ statistics: null })))).toEqual([]);
  });
});
