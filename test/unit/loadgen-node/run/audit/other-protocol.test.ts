import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AuditFacts,
  readAudit,
  writeAudit,
} from '../../../../../loadgen-node/observe/network-audit.ts';
import { serverStatistics } from '../../../../../loadgen-node/observe/split/server-statistics.ts';
import { renderReport } from '../../../../../loadgen-node/present/report/report-folder.ts';
import { composeAudit } from '../../../../../loadgen-node/run/audit/compose-audit.ts';
import { explainAudit } from '../../../../../loadgen-node/run/audit/explain-audit.ts';
import { ledgerNote } from '../../../../../loadgen-node/run/judge/judge-run.ts';
import {
  modelsInWords,
  nodeDetails,
  nodeNotes,
  pathNotes,
  serverModelMarks,
  serverNotes,
} from '../../../../../loadgen-node/run/judge/run-notes.ts';
import { summaryNodes } from '../../../../../loadgen-node/run/keep/run-report.ts';
import { addProtocol, knownProtocols, protocolNamed } from '../../../../../qdl/protocols/index.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { oipFacts, oipNode, oipStatistics } from '../../../../scenes/oip-server/oip-audit-facts.ts';
import { auditFacts, nodeEvidence } from '../../../../scenes/simulated-run/audit-facts.ts';
import { reportSummary } from '../../../../scenes/simulated-run/summary.ts';

// Goal: verdicts, notes and report go by the traits of a protocol, never by its name.
// Method: imaginary protocols with the traits of a known one; the same facts under both names.

const TITLE = 'the imaginary protocol';
const KNOWN = [...knownProtocols()];
const removals: (() => void)[] = [];

beforeAll(() => {
  for (const known of KNOWN) {
    const name = `like-${known.name}`;
    removals.push(addProtocol({ ...known, name, scheme: name, title: TITLE }));
  }
});
afterAll(() => {
  for (const remove of removals) remove();
});

const handOvers = {
  ...{ connectionCount: 1, callCount: 2, streamCount: 1 },
  ...{ connectionReason: 'max_age', streamReason: 'reset' },
};

const CASES: readonly [what: string, facts: AuditFacts][] = [
  ['a SUT node', auditFacts()],
  ['a SUT node whose streams ended', auditFacts([{ ...nodeEvidence('sut-a'), handOvers }])],
  ['a SUT node without a ledger', auditFacts([{ ...nodeEvidence('sut-a'), theirs: null }])],
  ['a server', oipFacts()],
  ['a server whose streams ended', oipFacts([{ ...oipNode('sut-a'), handOvers }])],
  [
    'servers of one name',
    oipFacts(['sut-a', 'sut-b'].map((one) => oipNode(one, { serverName: 'triton' }))),
  ],
  ['too few requests', oipFacts([oipNode('sut-a', { requestCount: 99 })])],
  [
    'too few inferences',
    oipFacts([oipNode('sut-a', { statistics: oipStatistics({ inferenceCount: 9 }) })]),
  ],
  [
    'a server that broke off',
    { ...oipFacts(), run: { ...oipFacts().run, isComplete: false }, nameCalls: [] },
  ],
];

/** The same facts under the name of the imaginary protocol with the same traits. */
function renamed(facts: AuditFacts): AuditFacts {
  return { ...facts, run: { ...facts.run, protocol: `like-${facts.run.protocol}` } };
}

function titlesAs(text: string, { run }: AuditFacts): string {
  const { title } = protocolNamed(run.protocol);
  return text.replaceAll('imaginary protocol', title.replace(/^the /, ''));
}

describe('a protocol of another name with the same traits', () => {
  it.each(CASES)('gets the same verdicts: %s', (_what, facts) => {
    const found = composeAudit(renamed(facts));
    expect(found.rules).toEqual(composeAudit(facts).rules);
    const folder = tempFolder();
    writeAudit(folder, found);
    expect(readAudit(folder)).toEqual(found);
  });

  it.each(CASES)('has the same notes, under its own title: %s', (_what, facts) => {
    const textOf = (from: AuditFacts): string => {
      const audit = composeAudit(from);
      return JSON.stringify([
        ledgerNote(audit, []),
        ...[nodeNotes(audit), pathNotes(audit), serverNotes(audit), serverModelMarks(audit)],
        ...[nodeDetails(audit), modelsInWords(audit.nodes), summaryNodes(audit)],
      ]);
    };
    expect(titlesAs(textOf(renamed(facts)), facts)).toBe(textOf(facts));
  });

  it.each(CASES)('is explained in the same words, under its own title: %s', (_what, facts) => {
    const explained = explainAudit(composeAudit(renamed(facts)));
    expect(titlesAs(explained, facts)).toBe(explainAudit(composeAudit(facts)));
  });

  it.each(CASES)('has the same report, under its own title: %s', (_what, facts) => {
    const pageOf = (from: AuditFacts): string => {
      const { nodes, ...summary } = reportSummary(null);
      const statistics = serverStatistics(oipStatistics());
      const server = { name: 'triton', version: '1', statistics };
      const { rules } = composeAudit(from);
      return renderReport({
        summary: {
          ...summary,
          protocol: from.run.protocol,
          split: null,
          nodes: from.server === null ? nodes : nodes.map((node) => ({ ...node, server })),
          audit: rules.map(({ id, verdict, why }) => ({ rule: id, verdict, text: why })),
        },
        records: null,
      });
    };
    expect(titlesAs(pageOf(renamed(facts)), facts)).toBe(pageOf(facts));
  });
});

it('breaks no rule where a server reports nothing of itself', () => {
  const { server: _, ...silent } = oipNode('sut-a');
  const audit = composeAudit(renamed({ ...oipFacts([silent]), server: null }));
  expect(audit.rules.filter(({ verdict }) => verdict === 'broken')).toEqual([]);
  expect(nodeDetails(audit)).toEqual([]);
  expect(explainAudit(audit)).toContain('SUT node        name not reported at sut-a.example:50051');
});

it('a file names no protocol that the list does not know', () => {
  const folder = tempFolder();
  writeAudit(folder, composeAudit(oipFacts()));
  const audit = readAudit(folder);
  writeAudit(folder, { ...audit, run: { ...audit.run, protocol: 'unknown' } });
  const known = knownProtocols().map(({ name }) => name);
  expect(() => readAudit(folder)).toThrow(`was not added here (known: ${known.join(', ')})`);
});
