import {
  ACCURACY,
  ACCURACY_LOG,
  ACCURACY_TEXT,
  COMPLIANCE,
  EVIDENCE,
  logged,
  type Mutation,
  RESULTS,
} from './mutation.ts';

const TEST01 = `${COMPLIANCE}/Server/TEST01`;
const TEST04 = `${COMPLIANCE}/Server/TEST04`;
const TEST05 = `${COMPLIANCE}/Server/TEST05`;
const run = (test: string): string => `${test}/performance/run_1/mlperf_log_detail.txt`;

const HASH = /^hash=.*\n/m;
const OTHER_HASH = 'ab'.repeat(32);

/** Lowest accuracy that counts is 75.6954. */
const BELOW_TARGET = 'accuracy=75.694%, good=37847, total=50000';

/** Faults of accuracy runs. */
export const ACCURACY_MUTATIONS: readonly Mutation[] = [
  {
    what: 'an accuracy one unit below the target',
    change: (tree) =>
      tree.edit(ACCURACY_TEXT, (text) => text.replace(/^accuracy=.*/, BELOW_TARGET)),
    finding: 'accuracy-below-target',
    file: ACCURACY_TEXT,
  },
  {
    what: 'a line that the official pattern does not match',
    change: (tree) => tree.edit(ACCURACY_TEXT, (text) => text.replace('accuracy=', 'Accuracy: ')),
    finding: 'accuracy-metric-missing',
    file: ACCURACY_TEXT,
  },
  {
    what: 'two results',
    change: (tree) =>
      tree.edit(ACCURACY_TEXT, (text) => `accuracy=77.000%, good=38500, total=50000\n${text}`),
    finding: 'accuracy-line-twice',
    file: ACCURACY_TEXT,
  },
  {
    what: 'an accuracy of half of the data set',
    change: (tree) =>
      tree.edit(ACCURACY_TEXT, (text) =>
        text.replace('good=38250, total=50000', 'good=19125, total=25000'),
      ),
    finding: 'accuracy-total-differs',
    file: ACCURACY_TEXT,
  },
  {
    what: 'an accuracy that its own counts contradict',
    change: (tree) => tree.edit(ACCURACY_TEXT, (text) => text.replace(/good=\d+/, 'good=100')),
    finding: 'accuracy-impossible',
    file: ACCURACY_TEXT,
  },
  {
    what: 'an accuracy above 100 %',
    change: (tree) =>
      tree.edit(ACCURACY_TEXT, (text) =>
        text.replace(/^accuracy=[\d.]+%, good=\d+/, 'accuracy=101.500%, good=50750'),
      ),
    finding: 'accuracy-impossible',
    file: ACCURACY_TEXT,
  },
  {
    what: 'the accuracy of the other scenario',
    change: (tree) =>
      tree.edit(`${RESULTS}/Offline/accuracy/accuracy.txt`, () => tree.text(ACCURACY_TEXT)),
    finding: 'accuracy-log-shared',
    file: ACCURACY_TEXT,
  },
  logged(
    'an accuracy run over half of the data set',
    [`${ACCURACY}/mlperf_log_detail.txt`, 'qsl_reported_total_count', '25000'],
    'accuracy-count-differs',
  ),
  {
    what: 'no hash',
    change: (tree) => tree.edit(ACCURACY_TEXT, (text) => text.replace(HASH, '')),
    finding: 'hash-missing',
    file: ACCURACY_TEXT,
  },
  {
    what: 'a hash that is none',
    change: (tree) => tree.edit(ACCURACY_TEXT, (text) => text.replace(HASH, 'hash=1234\n')),
    finding: 'hash-malformed',
    file: ACCURACY_TEXT,
  },
  {
    what: 'a tree that was truncated twice',
    change: (tree) => tree.edit(ACCURACY_TEXT, (text) => `${text}hash=${OTHER_HASH}\n`),
    finding: 'hash-twice',
    file: ACCURACY_TEXT,
  },
  {
    what: 'a hash of another log',
    change: (tree) =>
      tree.edit(ACCURACY_TEXT, (text) => text.replace(HASH, `hash=${OTHER_HASH}\n`)),
    finding: 'hash-wrong',
    file: ACCURACY_LOG,
  },
  {
    what: 'an accuracy log of 10,241 bytes',
    change: (tree) => tree.edit(ACCURACY_LOG, (text) => text.padEnd(10_241, '\n')),
    finding: 'accuracy-log-not-truncated',
    file: ACCURACY_LOG,
  },
  {
    what: 'an accuracy log that was cut by hand',
    change: (tree) => tree.edit(ACCURACY_LOG, (text) => text.slice(0, 4096)),
    finding: 'accuracy-log-damaged',
    file: ACCURACY_LOG,
  },
  {
    what: 'the empty accuracy log of a performance run',
    change: (tree) => tree.write(ACCURACY_LOG, '[\n]\n'),
    finding: 'accuracy-log-empty',
    file: ACCURACY_LOG,
  },
  {
    what: 'no accuracy.txt',
    change: (tree) => tree.remove(ACCURACY_TEXT),
    finding: 'missing-file',
    file: ACCURACY_TEXT,
  },
];

/** Faults of compliance tests. */
export const COMPLIANCE_MUTATIONS: readonly Mutation[] = [
  {
    what: 'no TEST05',
    change: (tree) => tree.remove(TEST05),
    finding: 'test-missing',
    file: TEST05,
  },
  {
    what: 'a test that the model does not have',
    change: (tree) => tree.copy(TEST04, `${COMPLIANCE}/Server/TEST06`),
    finding: 'test-not-asked',
    file: `${COMPLIANCE}/Server/TEST06`,
  },
  {
    what: 'a test that did not pass',
    change: (tree) =>
      tree.edit(`${TEST04}/verify_performance.txt`, (text) => text.replace('PASS', 'FAIL')),
    finding: 'test-not-passed',
    file: `${TEST04}/verify_performance.txt`,
  },
  {
    what: 'a test that failed and passed',
    change: (tree) => tree.edit(`${TEST04}/verify_performance.txt`, (text) => `TEST FAIL\n${text}`),
    finding: 'test-verdict-mixed',
    file: `${TEST04}/verify_performance.txt`,
  },
  {
    what: 'no verify_accuracy.txt',
    change: (tree) => tree.remove(`${TEST01}/verify_accuracy.txt`),
    finding: 'missing-file',
    file: `${TEST01}/verify_accuracy.txt`,
  },
  {
    what: 'the result in the place of TEST04',
    change: (tree) => {
      tree.record(run(TEST04), 'effective_performance_issue_same', 'false');
    },
    finding: 'test-settings-wrong',
    file: run(TEST04),
  },
  logged(
    'a log of TEST01 that samples nothing',
    [run(TEST01), 'effective_accuracy_log_sampling_target', '0'],
    'test-settings-wrong',
  ),
  logged(
    "the round's own seeds in TEST05",
    [run(TEST05), 'effective_qsl_rng_seed', '3066443479025735752'],
    'seed-wrong',
  ),
  logged('an INVALID test', [run(TEST01), 'result_validity', '"INVALID"'], 'result-invalid', [
    'summary-differs',
  ]),
  logged(
    'a cached TEST04 that says PASS',
    [run(TEST04), 'result_completed_samples_per_sec', '31'],
    'test-rate-differs',
    ['summary-differs'],
  ),
  {
    what: 'baseline files beside a PASS',
    change: (tree) => {
      tree.write(`${TEST01}/accuracy/baseline_accuracy.txt`, 'accuracy=76.000%\n');
    },
    finding: 'baseline-beside-pass',
    file: `${TEST01}/accuracy/baseline_accuracy.txt`,
  },
  {
    what: 'other responses and no baseline',
    change: (tree) =>
      tree.edit(`${TEST01}/verify_accuracy.txt`, (text) => text.replace('PASS', 'FAIL')),
    finding: 'baseline-missing',
    file: `${TEST01}/accuracy/baseline_accuracy.txt`,
  },
  {
    what: 'a baseline that is 2.5 % off',
    change: (tree) => {
      tree.edit(`${TEST01}/verify_accuracy.txt`, (text) => text.replace('PASS', 'FAIL'));
      tree.write(`${TEST01}/accuracy/baseline_accuracy.txt`, 'accuracy=76.000%\n');
      tree.write(`${TEST01}/accuracy/compliance_accuracy.txt`, 'accuracy=74.100%\n');
    },
    finding: 'baseline-differs',
    file: `${TEST01}/accuracy/compliance_accuracy.txt`,
  },
  {
    what: 'a log of TEST01 that is not truncated',
    change: (tree) =>
      tree.edit(`${TEST01}/accuracy/mlperf_log_accuracy.json`, (text) => text.padEnd(10_241)),
    finding: 'test01-log-not-truncated',
    file: `${TEST01}/accuracy/mlperf_log_accuracy.json`,
  },
  {
    what: 'no hash in TEST01',
    change: (tree) =>
      tree.edit(`${TEST01}/accuracy/accuracy.txt`, (text) => text.replace(HASH, '')),
    finding: 'test01-hash-missing',
    file: `${TEST01}/accuracy/accuracy.txt`,
  },
];

type Json = Record<string, unknown>;

const AUDIT = `${EVIDENCE}/Server/performance/network_audit.json`;

function nodeOf(audit: Json): Json {
  return (audit['nodes'] as Json[])[0] as Json;
}

function audited(
  what: string,
  change: (audit: Json) => void,
  finding: Mutation['finding'],
  consequences: Mutation['consequences'] = [],
): Mutation {
  return { what, change: (tree) => tree.json(AUDIT, change), finding, file: AUDIT, consequences };
}

/** Faults of the evidence of a run over the network. */
export const AUDIT_MUTATIONS: readonly Mutation[] = [
  {
    what: 'an audit that is cut',
    change: (tree) => tree.edit(AUDIT, (text) => text.slice(0, 300)),
    finding: 'audit-broken',
    file: AUDIT,
  },
  {
    what: 'the audit of the Offline run',
    change: (tree) =>
      tree.write(AUDIT, tree.text(`${EVIDENCE}/Offline/performance/network_audit.json`)),
    finding: 'audit-of-another-run',
    file: AUDIT,
  },
  audited(
    'one host for LoadGen and SUT',
    (audit) => {
      const host = (audit['loadgenNode'] as Json)['host'];
      (nodeOf(audit)['description'] as Json)['host'] = host;
    },
    'same-host',
  ),
  audited(
    'two nodes of one name',
    (audit) => {
      const other = structuredClone(nodeOf(audit));
      const call = (audit['nameCalls'] as Json[])[0] as Json;
      const nodes = call['nodes'] as Json[];
      other['address'] = 'sut-b.example:50051';
      (audit['nodes'] as Json[]).push(other);
      for (const one of audit['nameCalls'] as Json[]) {
        const list = one['nodes'] as Json[];
        list.push({ ...(nodes[0] as Json), address: 'sut-b.example:50051' });
      }
    },
    'node-names-alike',
    ['audit-rule-broken', 'nodes-differ'],
  ),
  audited(
    'a Name() that is answered much sooner than a TCP connect',
    (audit) => {
      for (const call of audit['nameCalls'] as Json[]) {
        for (const node of call['nodes'] as Json[]) node['tcpConnectNs'] = 40e6;
      }
    },
    'audit-rule-unproved',
  ),
  audited(
    'samples compressed in a way that is not allowed',
    (audit) => {
      ((audit['run'] as Json)['encoding'] as Json)['compression'] = 'gzip';
      const theirs = nodeOf(audit)['theirs'] as Json;
      theirs['encodings'] = [{ form: 'jpeg', compression: 'gzip' }];
    },
    'compression-not-allowed',
  ),
  audited(
    'a run of the open division',
    (audit) => {
      (audit['run'] as Json)['division'] = 'open';
    },
    'audit-rule-broken',
  ),
  {
    what: 'a stand-in model',
    change: (tree) =>
      tree.json(AUDIT, (audit) => {
        const model = (nodeOf(audit)['description'] as Json)['model'] as Json;
        model['isStandIn'] = true;
      }),
    finding: 'stand-in-model',
    file: `${RESULTS}/Server`,
  },
];
