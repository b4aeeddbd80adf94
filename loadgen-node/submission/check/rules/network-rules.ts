import { posix } from 'node:path';
import { suitesOf } from '../read/description-values.ts';
import { isStrict, type SubmitterSite } from '../read/sites.ts';
import { auditMismatches } from '../result/check-audit.ts';
import { isOfLonghaul, ownEngine, removedRecords, standIn, unknownBuild } from '../result/marks.ts';
import { NETWORK_RULES, type RuleTable } from './rule.ts';

/** What somebody has to have written down, and how the files that tell it are called. */
const TOPICS = [
  {
    of: 'sent',
    what: 'what is marshalled and sent for each query, and the API of the session layer',
    name: /network|protocol|wire|rpc|qdl|\.proto$/i,
  },
  {
    of: 'way',
    what: 'the way of the data from the network card to the accelerator, and its bandwidth',
    name: /bandwidth|architecture|data_?path/i,
  },
] as const;

const QDL = `${NETWORK_RULES}, QDL constraints`;

/** Rules of the Network division that no official tool checks, and the two marks. */
export const NETWORK_DIVISION_RULES = {
  'stand-in-model': {
    severity: 'mark',
    rule: 'A stand-in model or data set measures software; what it shows is no result of the benchmark.',
    source: 'longhaul: stand-ins have the form of the real model and data, and no accuracy',
    advice: 'Use the model and the data set of the benchmark.',
    read: standIn,
  },
  'not-approved-loadgen': {
    severity: 'mark',
    rule: 'LoadGen is compiled from a tagged approved revision of the mlperf/inference repository, unaltered.',
    source: 'inference_rules v4.1, LoadGen; no tool looks, reviewers do',
    advice: 'Say so to whoever is shown the result: it is none of MLPerf.',
    read: ownEngine,
  },
  'loadgen-not-known': {
    severity: 'warning',
    rule: 'The log names an approved revision of LoadGen with its git hash, its build and its files, without changes.',
    source: 'inference_rules v4.1, LoadGen; no tool looks, reviewers do',
    advice: 'Build LoadGen from the tag of the round; nobody can verify another one.',
    read: (facts) =>
      [...facts.runs].map(([run, log]) => !isOfLonghaul(facts, run, log) && unknownBuild(log)),
  },
  'own-records-removed': {
    rule: 'The logs of longhaul have the records in which it says what it is and what it found.',
    source: 'longhaul, detail log; what a log says may not be changed',
    advice: 'Take the log as longhaul wrote it.',
    read: (facts) =>
      [...facts.runs].map(([run, log]) => isOfLonghaul(facts, run, log) && removedRecords(log)),
  },
  'audit-missing': {
    severity: 'warning',
    rule: 'Each run of a network result of longhaul has its network_audit.json in documentation/evidence.',
    source: 'longhaul, network-audit',
    advice:
      'Build the tree with longhaul submission build, or add the file from the folder of the run.',
  },
  'network-rules-unproved': {
    severity: 'warning',
    rule: 'What the rules of the Network division ask of QDL and SUT is shown by evidence.',
    source: `${NETWORK_RULES}; a foreign LoadGen writes no audit, and no tool looks`,
    advice: 'Be ready to show it to reviewers: round trip of Name(), counts of both ends, hosts.',
  },
  'audit-broken': {
    severity: 'warning',
    rule: 'network_audit.json can be read.',
    source: 'longhaul, network-audit',
    advice: 'Copy it again from the folder of the run.',
  },
  'audit-of-another-run': {
    rule: 'The audit is of the run whose logs lie in the tree.',
    source: 'longhaul, network-audit',
    advice: 'Copy it from the folder of the run.',
    audit: auditMismatches,
  },
  'audit-rule-broken': {
    rule: 'No rule of the Network division was broken in the run.',
    source: NETWORK_RULES,
    advice: 'See longhaul audit: mend it and make the run again, or submit to open.',
  },
  'audit-rule-unproved': {
    severity: 'warning',
    rule: 'The evidence of the run shows each rule that a run can show.',
    source: NETWORK_RULES,
    advice: 'See longhaul audit: what is not shown, reviewers may ask for.',
  },
  'same-host': {
    rule: 'LoadGen node and SUT nodes are physically separate and distinct systems.',
    source: `${NETWORK_RULES}, System Topology`,
    advice: 'Run the SUT on another machine.',
  },
  'node-names-alike': {
    rule: 'Every SUT node has a name of its own.',
    source: QDL,
    advice: 'Give each node a name of its own: sut --node.',
  },
  'name-without-round-trip': {
    rule: 'Name() makes at least one round trip over the network before it returns.',
    source: QDL,
    advice: 'Ask the nodes in Name(), every time.',
  },
  'compression-not-allowed': {
    rule: 'Samples travel in a form that the table of compression options has for the model.',
    source: `${NETWORK_RULES}, benchmarks and QSL pre-processing`,
    advice: 'Use another encoding or compression, or submit to open.',
  },
  'document-missing': {
    severity: 'warning',
    rule: 'Documents tell what the QDL sends for each query (network), and that the way of the data has the bandwidth that is needed (closed and network, datacenter).',
    source: `${NETWORK_RULES}, QDL implementation; inference_rules v4.1, LoadGen Operation; no tool looks`,
    advice:
      'Add it to documentation/, with "network", "protocol", "bandwidth" or "architecture" in its name; submission build writes both.',
    submitter: (site) => {
      const isOfDatacenter = [...site.descriptions.values()].some((one) =>
        suitesOf(one).includes('datacenter'),
      );
      const isAsked = { sent: site.division === 'network', way: isStrict(site) && isOfDatacenter };
      return TOPICS.map(({ of, what, name }) => {
        const isThere = documentsOf(site).some((path) => name.test(posix.basename(path)));
        const text = `By its name no file in it tells ${what}.`;
        return isAsked[of] && !isThere && { file: documentation(site), text };
      });
    },
  },
  'diagram-missing': {
    severity: 'warning',
    rule: 'A network submission has a diagram of what connects LoadGen node and SUT nodes.',
    source: `${NETWORK_RULES}, System Topology; no tool looks`,
    advice: 'Add one to documentation/, with "diagram" in its name; submission build draws it.',
    submitter: (site) =>
      site.division === 'network' &&
      !documentsOf(site).some((path) => /diagram[^/]*$/i.test(path)) && {
        file: documentation(site),
        text: 'No file in it has "diagram" in its name.',
      },
  },
} as const satisfies RuleTable;

function documentation({ layout, division, submitter }: SubmitterSite): string {
  return layout.documentation(division, submitter);
}

/** Texts for reviewers; not the evidence that longhaul wrote. */
function documentsOf(site: SubmitterSite): string[] {
  const folder = documentation(site);
  const evidence = posix.join(folder, 'evidence/');
  return [...site.listing.filePaths()].filter(
    (path) => path.startsWith(`${folder}/`) && !path.startsWith(evidence),
  );
}
