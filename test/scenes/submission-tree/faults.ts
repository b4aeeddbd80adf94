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
const AUDIT = `${EVIDENCE}/Server/performance/network_audit.json`;
const LARGE = `${CODE}/resnet50/large.bin`;
const LARGE_BYTES = 50 * 2 ** 20 + 1;

/** Files, folders and names. */
const FILES: readonly FaultRow[] = [
  ['a file in the root that is no .md', 'root-file', write('notes.txt')],
  [
    'a folder in the root that is no division',
    'root-folder',
    write('Closed/README.md'),
    { at: 'Closed' },
  ],
  ['a file between division and submitter', 'division-file', write('network/README.md')],
  [
    'a division without a submitter that has results',
    'submitter-empty',
    write('closed/ACME/README.md'),
    { at: 'closed/ACME' },
  ],
  [
    'the mark of a tree with shortened runs',
    'dry-run-lengths',
    write('NOT_SUBMITTABLE.md', 'shortened'),
  ],
  [
    'a README of shortened runs in a tree without that mark',
    'dry-run-lengths',
    append(`${MEASURED}/README.md`, '\n> **Not to be handed in: built to try things out.**\n'),
  ],
  ['a file above 50 MiB', 'file-too-large', [write(LARGE), lengthen(LARGE, LARGE_BYTES)]],
  ['a name with a space', 'name-with-space', write(`${CODE}/resnet50/read me.md`)],
  ['a name that begins with a dot', 'name-with-dot', write(`${CODE}/.gitignore`, 'dist')],
  ['a name with a character of the shell', 'name-not-plain', write(`${MEASURED}/a;b.md`)],
  [
    'a cache of Python',
    'python-cache',
    write(`${CODE}/__pycache__/a.pyc`),
    { at: `${CODE}/__pycache__` },
  ],
  ['an empty folder', 'empty-folder', folder(`${CODE}/empty`)],
  ['a link that leads to a file', 'symlink', link(`${CODE}/link.json`, '../systems/acme-2n.json')],
  ['a link that leads to a folder', 'symlink-to-folder', link(`${CODE}/resnet`, 'resnet50')],
  ['no summary log', 'missing-file', remove(`${SERVER_RUN}/mlperf_log_summary.txt`)],
  ['no detail log', 'missing-file', remove(`${SERVER_RUN}/mlperf_log_detail.txt`)],
  [
    'no performance/run_1',
    'missing-folder',
    remove(`${RESULTS}/Server/performance`),
    { at: SERVER_RUN },
  ],
  [
    'a file in run_1 that is none of the list',
    'extra-file',
    write(`${SERVER_RUN}/network_audit.json`, '{}'),
  ],
  ['a file in accuracy/ that is none of the list', 'extra-file', write(`${ACCURACY}/notes.txt`)],
  ['a second run', 'extra-run', copy(SERVER_RUN, `${RESULTS}/Server/performance/run_2`)],
  ['no README.md in measurements', 'missing-file', remove(`${MEASURED}/README.md`)],
  ['an empty user.conf', 'empty-file', write(`${MEASURED}/user.conf`, '')],
  [
    'no mlperf.conf, which v4.1 asks for',
    'missing-file',
    remove(`${MEASUREMENTS}/Offline/mlperf.conf`),
  ],
  [
    'a line of user.conf that LoadGen refuses',
    'conf-not-for-loadgen',
    append(`${MEASURED}/user.conf`, '*.*.mode : 2\n'),
  ],
  [
    'a user.conf of another run',
    'user-conf-differs',
    write(`${MEASURED}/user.conf`, '*.Server.min_duration = 1000\n'),
  ],
  [
    'measurements of a system without results',
    'measurements-unused',
    copy(`${ACME}/measurements/acme-2n`, `${ACME}/measurements/acme-3n`),
  ],
  ['retraining in network', 'retraining-stated', json(WEIGHTS, { retraining: 'Yes' })],
  ['a blank in the measurements file', 'field-blank', json(WEIGHTS, { retraining: ' ' })],
  ['no measurements file', 'measurements-file-missing', remove(WEIGHTS), { at: MEASURED }],
  [
    'an empty value in the measurements file',
    'measurements-field-missing',
    json(WEIGHTS, { retraining: '' }),
  ],
  [
    'no code of the model',
    'code-missing',
    move(`${CODE}/resnet50`, `${CODE}/resnet`),
    { at: `${CODE}/resnet50` },
  ],
  [
    'a folder of another model name',
    'model-unknown',
    move(RESULTS, `${ACME}/results/acme-2n/resnet-50`),
    { also: ['missing-folder', 'audit-missing'] },
  ],
  [
    'a required scenario is missing',
    'scenario-missing',
    remove(`${RESULTS}/Offline`),
    { at: RESULTS },
  ],
  [
    'a folder that is no scenario',
    'scenario-unknown',
    write(`${RESULTS}/server-old/README.md`),
    { at: `${RESULTS}/server-old` },
  ],
  [
    'a scenario of the edge suite in network',
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
  [
    'results of a system without a description',
    'system-missing',
    remove(SYSTEM),
    { also: ['empty-folder'] },
  ],
  ['a description without results', 'system-unused', copy(SYSTEM, `${ACME}/systems/acme-3n.json`)],
  ['a description that is no JSON', 'json-broken', rewrite(SYSTEM, (text) => text.slice(0, 200))],
  [
    'a description in Latin-1',
    'not-utf8',
    rewrite(SYSTEM, (text) => Buffer.from(text.replace('"cooling": "', '$&\u00e9'), 'latin1')),
  ],
  [
    'no system diagram',
    'diagram-missing',
    ['svg', 'md'].map((ending) => remove(`${DOCUMENTS}/acme-2n/system_diagram.${ending}`)),
    { at: DOCUMENTS },
  ],
  [
    'no document of the wire protocol',
    'document-missing',
    remove(`${DOCUMENTS}/network.md`),
    { at: DOCUMENTS },
  ],
  [
    'no statement of the bandwidth',
    'document-missing',
    remove(`${DOCUMENTS}/acme-2n/bandwidth.md`),
    { at: DOCUMENTS },
  ],
  ['a TODO in a document', 'todo-left', append(`${DOCUMENTS}/network.md`, '\nTODO: the switch\n')],
  ['no evidence of a run', 'audit-missing', remove(AUDIT)],
];

const described = (values: Readonly<Record<string, unknown>>): Change => json(SYSTEM, values);

/** The description of the system. */
const DESCRIPTION: readonly FaultRow[] = [
  ['no system_type_detail', 'field-missing', described({ system_type_detail: undefined })],
  ['no number of connections', 'field-missing', described({ number_connections: undefined })],
  ['no is_network', 'field-missing', described({ is_network: undefined })],
  ['JSON true for is_network', 'is-network-not-text', described({ is_network: true })],
  ['"False" for is_network', 'is-network-false', described({ is_network: 'False' })],
  ['an empty framework', 'field-empty', described({ framework: '' })],
  ['the number 0 of accelerators', 'field-empty', described({ accelerators_per_node: 0 })],
  ['a list for cooling', 'field-not-plain', described({ cooling: ['air'] })],
  ['a number for the framework', 'field-not-text', described({ framework: 2.4 })],
  ['a list of notes', 'field-not-text', described({ hw_notes: ['none'] })],
  ['a framework of blanks', 'field-blank', described({ framework: '  ' })],
  ['an empty list for cooling', 'field-empty', described({ cooling: [] })],
  ['8 nodes beside an audit of one', 'nodes-differ', described({ number_of_nodes: '8' })],
  ['"N/A" nodes', 'field-not-number', described({ number_of_nodes: 'N/A' })],
  ['a key that nobody knows', 'field-unknown', described({ rack: '7' })],
  ['a TODO left', 'todo-left', described({ cooling: 'TODO: air or liquid' })],
  ['the division in upper case', 'division-differs', described({ division: 'Network' })],
  ['another submitter', 'submitter-differs', described({ submitter: 'EMCA' })],
  ['a status that is none', 'status-unknown', described({ status: 'released' })],
  ['a system type that is none', 'system-type-unknown', described({ system_type: 'Data Center' })],
  [
    'an edge system in network',
    'not-datacenter',
    described({ system_type: 'edge' }),
    { also: ['scenario-missing', 'scenario-unknown'] },
  ],
  [
    'both suites in network',
    'not-datacenter',
    described({ system_type: 'datacenter,edge' }),
    { also: ['scenario-missing'] },
  ],
  ['an empty network topology', 'network-field-empty', described({ network_topology: '' })],
  ['a fabric that is not permitted', 'fabric-not-permitted', described({ network_type: 'USB4' })],
  ['NVLink as the network', 'bus-interconnect', described({ network_type: 'NVLink' })],
  ['PCIe below Ethernet', 'bus-interconnect', described({ network_media: 'PCIe 5.0 cable' })],
  [
    'memory without a word of ECC',
    'ecc-not-stated',
    described({ host_memory_configuration: '8 x 32 GB' }),
  ],
  ['ECC off', 'ecc-off', described({ host_memory_configuration: '8 x 32 GB, ECC disabled' })],
  ['non-ECC memory', 'ecc-off', described({ host_memory_configuration: '8 x 32 GB non-ECC' })],
  ['a rate too small', 'bandwidth-too-small', described({ network_rate: '1M' })],
  ['a rate that is none', 'bandwidth-unknown', described({ network_rate: 'fast' })],
];

// biome-ignore lint/suspicious/noExplicitAny: faults change single members.
const audited = (change: (audit: any) => void): Change => json(AUDIT, change);

/** Evidence of a run over the network. */
const AUDITS: readonly FaultRow[] = [
  ['an audit that is cut', 'audit-broken', rewrite(AUDIT, (text) => text.slice(0, 300))],
  [
    'the audit of the Offline run',
    'audit-of-another-run',
    copy(`${EVIDENCE}/Offline/performance/network_audit.json`, AUDIT),
  ],
  [
    'one host for LoadGen and SUT',
    'same-host',
    audited(({ nodes, loadgenNode }) => {
      nodes[0].description.host = loadgenNode.host;
    }),
  ],
  [
    'two nodes of one name',
    'node-names-alike',
    audited(({ nodes, nameCalls }) => {
      const address = 'sut-b.example:50051';
      const answer = { ...nameCalls[0].nodes[0], address };
      nodes.push({ ...structuredClone(nodes[0]), address });
      for (const call of nameCalls) call.nodes.push(answer);
    }),
    { also: ['audit-rule-broken', 'nodes-differ'] },
  ],
  [
    'a Name() that is answered much sooner than a TCP connect',
    'audit-rule-unproved',
    audited(({ nameCalls }) => {
      for (const { nodes } of nameCalls) for (const node of nodes) node.tcpConnectNs = 40e6;
    }),
  ],
  [
    'samples compressed in a way that is not allowed',
    'compression-not-allowed',
    audited(({ run, nodes }) => {
      run.encoding.compression = 'gzip';
      nodes[0].theirs.encodings = [{ form: 'jpeg', compression: 'gzip' }];
    }),
  ],
  [
    'a run of the open division',
    'audit-rule-broken',
    audited(({ run }) => {
      run.division = 'open';
    }),
  ],
  [
    'a stand-in model',
    'stand-in-model',
    audited(({ nodes }) => {
      nodes[0].description.model.isStandIn = true;
    }),
    { at: `${RESULTS}/Server` },
  ],
];

export interface Fault {
  /** The fault in words. */
  readonly what: string;
  readonly finding: FindingId;
  /** File or folder of the finding, relative to the tree. */
  readonly file: string;
  readonly changes: readonly Change[];
  /** Findings that follow from it. */
  readonly also: readonly FindingId[];
}

/** Every fault of a tree from `buildScene`, one at a time. */
export const FAULTS: readonly Fault[] = [...FILES, ...DESCRIPTION, ...RUN_FAULTS, ...AUDITS].map(
  ([what, finding, change, { at, also = [] } = {}]) => {
    const changes = 'make' in change ? [change] : change;
    return { what, finding, file: at ?? changes[0]?.path ?? '', changes, also };
  },
);
