import type { FindingId } from '../../../loadgen-node/submission/check/rules/findings.ts';
import {
  append,
  type Change,
  copy,
  folder,
  json,
  lengthen,
  link,
  move,
  remove,
  rewrite,
  write,
} from './changes.ts';
import { ACCURACY, ACME, type FaultRow, RESULTS, RUN_FAULTS, SERVER_RUN } from './run-faults.ts';

const SYSTEM = `${ACME}/systems/acme-2n.json`;
const CODE = `${ACME}/code`;
const DOCUMENTS = `${ACME}/documentation`;
const EVIDENCE = `${DOCUMENTS}/evidence/acme-2n/resnet50`;
const MEASUREMENTS = `${ACME}/measurements/acme-2n/resnet50`;
const MEASURED = `${MEASUREMENTS}/Server`;
const WEIGHTS = `${MEASURED}/acme-2n_longhaul_Server.json`;
/** As a run by the C++ LoadGen leaves it. */
const CPP_ENGINE = {
  ...{ kind: 'cpp-loadgen', version: '4.1', commit: '379ee5345a', tree: 'ab', tag: 'v4.1' },
  ...{
    sourcesSha256: 'ab',
    librarySha256: 'ab',
    addonSha256: 'ab',
    detailLogSha256: 'ab',
    otherSamples: 0,
    doubts: [],
  },
};
const AUDIT = `${EVIDENCE}/Server/performance/network_audit.json`;
const LARGE = `${CODE}/resnet50/large.bin`;
const LARGE_BYTES = 50 * 2 ** 20 + 1;

/** Files, folders and names. */
const FILES: readonly FaultRow[] = [
  ['root-file', write('notes.txt')],
  ['root-folder', write('Closed/README.md'), { at: 'Closed' }],
  ['division-file', write('network/README.md')],
  ['submitter-empty', write('closed/ACME/README.md'), { at: 'closed/ACME' }],
  ['dry-run-lengths', write('NOT_SUBMITTABLE.md', 'shortened')],
  // A README of shortened runs in a tree without that mark.
  [
    'dry-run-lengths',
    append(`${MEASURED}/README.md`, '\n> **Not to be handed in: built to try things out.**\n'),
  ],
  // A file above 50 MiB.
  ['file-too-large', [write(LARGE), lengthen(LARGE, LARGE_BYTES)]],
  ['name-with-space', write(`${CODE}/resnet50/read me.md`)],
  ['name-with-dot', write(`${CODE}/.gitignore`, 'dist')],
  ['name-not-plain', write(`${MEASURED}/a;b.md`)],
  ['python-cache', write(`${CODE}/__pycache__/a.pyc`), { at: `${CODE}/__pycache__` }],
  ['empty-folder', folder(`${CODE}/empty`)],
  ['symlink', link(`${CODE}/link.json`, '../systems/acme-2n.json')],
  ['symlink-to-folder', link(`${CODE}/resnet`, 'resnet50')],
  ['missing-file', remove(`${SERVER_RUN}/mlperf_log_summary.txt`)],
  ['missing-file', remove(`${SERVER_RUN}/mlperf_log_detail.txt`)],
  ['missing-folder', remove(`${RESULTS}/Server/performance`), { at: SERVER_RUN }],
  ['extra-file', write(`${SERVER_RUN}/network_audit.json`, '{}')],
  ['extra-file', write(`${ACCURACY}/notes.txt`)],
  // A second run.
  ['extra-run', copy(SERVER_RUN, `${RESULTS}/Server/performance/run_2`)],
  ['missing-file', remove(`${MEASURED}/README.md`)],
  ['empty-file', write(`${MEASURED}/user.conf`, '')],
  ['missing-file', remove(`${MEASUREMENTS}/Offline/mlperf.conf`)],
  // A line of user.conf that LoadGen refuses.
  ['conf-not-for-loadgen', append(`${MEASURED}/user.conf`, '*.*.mode : 2\n')],
  ['user-conf-differs', write(`${MEASURED}/user.conf`, '*.Server.min_duration = 1000\n')],
  // Measurements of a system without results.
  ['measurements-unused', copy(`${ACME}/measurements/acme-2n`, `${ACME}/measurements/acme-3n`)],
  ['retraining-stated', json(WEIGHTS, { retraining: 'Yes' })],
  ['field-blank', json(WEIGHTS, { retraining: ' ' })],
  ['measurements-file-missing', remove(WEIGHTS), { at: MEASURED }],
  ['measurements-field-missing', json(WEIGHTS, { retraining: '' })],
  ['code-missing', move(`${CODE}/resnet50`, `${CODE}/resnet`), { at: `${CODE}/resnet50` }],
  [
    'model-unknown',
    move(RESULTS, `${ACME}/results/acme-2n/resnet-50`),
    { also: ['missing-folder', 'audit-missing'] },
  ],
  ['scenario-missing', remove(`${RESULTS}/Offline`), { at: RESULTS }],
  ['scenario-unknown', write(`${RESULTS}/server-old/README.md`), { at: `${RESULTS}/server-old` }],
  // A scenario of the edge suite in network.
  [
    'scenario-not-in-division',
    copy(`${RESULTS}/Offline`, `${RESULTS}/SingleStream`),
    {
      also: [
        'missing-folder',
        'scenario-differs',
        'metric-missing',
        'accuracy-log-shared',
        'audit-missing',
        'test-missing',
      ],
    },
  ],
  ['system-missing', remove(SYSTEM), { also: ['empty-folder'] }],
  // A description without results.
  ['system-unused', copy(SYSTEM, `${ACME}/systems/acme-3n.json`)],
  // A description that is no JSON.
  ['json-broken', rewrite(SYSTEM, (text) => text.slice(0, 200))],
  // A description in Latin-1.
  [
    'not-utf8',
    rewrite(SYSTEM, (text) => Buffer.from(text.replace('"cooling": "', '$&\u00e9'), 'latin1')),
  ],
  // No system diagram.
  [
    'diagram-missing',
    ['svg', 'md'].map((ending) => remove(`${DOCUMENTS}/acme-2n/system_diagram.${ending}`)),
    { at: DOCUMENTS },
  ],
  ['document-missing', remove(`${DOCUMENTS}/network.md`), { at: DOCUMENTS }],
  ['document-missing', remove(`${DOCUMENTS}/acme-2n/bandwidth.md`), { at: DOCUMENTS }],
  // A TODO in a document.
  ['todo-left', append(`${DOCUMENTS}/network.md`, '\nTODO: the switch\n')],
  ['audit-missing', remove(AUDIT)],
];

const described = (values: Readonly<Record<string, unknown>>): Change => json(SYSTEM, values);

/** The description of the system. */
const DESCRIPTION: readonly FaultRow[] = [
  ['field-missing', described({ system_type_detail: undefined })],
  ['field-missing', described({ number_connections: undefined })],
  ['field-missing', described({ is_network: undefined })],
  ['is-network-not-text', described({ is_network: true })],
  ['is-network-false', described({ is_network: 'False' })],
  ['field-empty', described({ framework: '' })],
  ['field-empty', described({ accelerators_per_node: 0 })],
  ['field-not-plain', described({ cooling: ['air'] })],
  ['field-not-text', described({ framework: 2.4 })],
  ['field-not-text', described({ hw_notes: ['none'] })],
  ['field-blank', described({ framework: '  ' })],
  ['field-empty', described({ cooling: [] })],
  ['nodes-differ', described({ number_of_nodes: '8' })],
  ['field-not-number', described({ number_of_nodes: 'N/A' })],
  ['field-unknown', described({ rack: '7' })],
  ['todo-left', described({ cooling: 'TODO: air or liquid' })],
  ['division-differs', described({ division: 'Network' })],
  ['submitter-differs', described({ submitter: 'EMCA' })],
  ['status-unknown', described({ status: 'released' })],
  ['system-type-unknown', described({ system_type: 'Data Center' })],
  [
    'not-datacenter',
    described({ system_type: 'edge' }),
    { also: ['scenario-missing', 'scenario-unknown'] },
  ],
  ['not-datacenter', described({ system_type: 'datacenter,edge' }), { also: ['scenario-missing'] }],
  ['network-field-empty', described({ network_topology: '' })],
  ['fabric-not-permitted', described({ network_type: 'USB4' })],
  ['bus-interconnect', described({ network_type: 'NVLink' })],
  ['bus-interconnect', described({ network_media: 'PCIe 5.0 cable' })],
  ['ecc-not-stated', described({ host_memory_configuration: '8 x 32 GB' })],
  ['ecc-off', described({ host_memory_configuration: '8 x 32 GB, ECC disabled' })],
  ['ecc-off', described({ host_memory_configuration: '8 x 32 GB non-ECC' })],
  ['bandwidth-too-small', described({ network_rate: '1M' })],
  ['bandwidth-unknown', described({ network_rate: 'fast' })],
];

// biome-ignore lint/suspicious/noExplicitAny: faults change single members.
const audited = (change: (audit: any) => void): Change => json(AUDIT, change);

/** Evidence of a run over the network. */
const AUDITS: readonly FaultRow[] = [
  // An audit that is cut.
  ['audit-broken', rewrite(AUDIT, (text) => text.slice(0, 300))],
  // The audit of the Offline run.
  [
    'loadgen-contradicted',
    // Evidence of the C++ LoadGen beside a log of longhaul.
    audited(({ run }) => {
      run.engine = CPP_ENGINE;
    }),
    { at: `${SERVER_RUN}/mlperf_log_detail.txt` },
  ],
  [
    'loadgen-contradicted',
    // The C++ LoadGen's own log, edited behind it: it never had longhaul's records, so that none
    // was taken out.
    [
      audited(({ run }) => {
        run.engine = CPP_ENGINE;
      }),
      rewrite(`${SERVER_RUN}/mlperf_log_detail.txt`, (text) =>
        text
          .replace(/^.*"key": "longhaul_.*\n/gm, '')
          .replace(/("key": "loadgen_version", "value": )"[^"]*"/, '$1"4.1 @ 379ee5345a"'),
      ),
    ],
    { at: `${SERVER_RUN}/mlperf_log_detail.txt`, also: ['loadgen-not-known'] },
  ],
  ['audit-of-another-run', copy(`${EVIDENCE}/Offline/performance/network_audit.json`, AUDIT)],
  // One host for LoadGen and SUT.
  [
    'same-host',
    audited(({ nodes, loadgenNode }) => {
      nodes[0].description.host = loadgenNode.host;
    }),
  ],
  // Two nodes of one name.
  [
    'node-names-alike',
    audited(({ nodes, nameCalls }) => {
      const address = 'sut-b.example:50051';
      const answer = { ...nameCalls[0].nodes[0], address };
      nodes.push({ ...structuredClone(nodes[0]), address });
      for (const call of nameCalls) call.nodes.push(answer);
    }),
    { also: ['audit-rule-broken', 'nodes-differ'] },
  ],
  // A Name() that is answered much sooner than a TCP connect.
  [
    'audit-rule-unproved',
    audited(({ nameCalls }) => {
      for (const { nodes } of nameCalls) for (const node of nodes) node.tcpConnectNs = 40e6;
    }),
  ],
  // Samples compressed in a way that is not allowed.
  [
    'compression-not-allowed',
    audited(({ run, nodes }) => {
      run.encoding.compression = 'gzip';
      nodes[0].theirs.encodings = [{ form: 'jpeg', compression: 'gzip' }];
    }),
  ],
  // A run of the open division.
  [
    'audit-rule-broken',
    audited(({ run }) => {
      run.division = 'open';
    }),
  ],
  // A stand-in model.
  [
    'stand-in-model',
    audited(({ nodes }) => {
      nodes[0].description.model.isStandIn = true;
    }),
    { at: `${RESULTS}/Server` },
  ],
];

export interface Fault {
  /** Finding and fault in words. */
  readonly title: string;
  readonly finding: FindingId;
  /** File or folder of the finding, relative to the tree. */
  readonly file: string;
  readonly changes: readonly Change[];
  /** Findings that follow from it. */
  readonly also: readonly FindingId[];
}

/** Every fault of a tree from `buildScene`, one at a time. */
export const FAULTS: readonly Fault[] = [...FILES, ...DESCRIPTION, ...RUN_FAULTS, ...AUDITS].map(
  ([finding, change, { at, also = [] } = {}]) => {
    const changes = 'make' in change ? [change] : change;
    const title = `${finding}: ${changes.map(({ path, what }) => `${path} ${what}`).join(', ')}`;
    return { title, finding, file: at ?? changes[0]?.path ?? '', changes, also };
  },
);
