import {
  ACCURACY,
  ACME,
  EVIDENCE,
  MEASUREMENTS,
  type Mutation,
  RESULTS,
  SERVER_RUN,
  SYSTEM,
} from './mutation.ts';

const LARGE_BYTES = 50 * 2 ** 20 + 1;

/** Faults of files, folders and names. */
export const TREE_MUTATIONS: readonly Mutation[] = [
  {
    what: 'a file in the root that is no .md',
    change: (tree) => tree.write('notes.txt', 'text'),
    finding: 'root-file',
    file: 'notes.txt',
  },
  {
    what: 'a folder in the root that is no division',
    change: (tree) => tree.write('Closed/README.md', 'text'),
    finding: 'root-folder',
    file: 'Closed',
  },
  {
    what: 'a file between division and submitter',
    change: (tree) => tree.write('network/README.md', 'text'),
    finding: 'division-file',
    file: 'network/README.md',
  },
  {
    what: 'a division without a submitter that has results',
    change: (tree) => tree.write('closed/ACME/README.md', 'text'),
    finding: 'submitter-empty',
    file: 'closed/ACME',
  },
  {
    what: 'the mark of a tree with shortened runs',
    change: (tree) => tree.write('NOT_SUBMITTABLE.md', 'shortened'),
    finding: 'dry-run-lengths',
    file: 'NOT_SUBMITTABLE.md',
  },
  {
    what: 'a README of shortened runs in a tree without that mark',
    change: (tree) =>
      tree.edit(
        `${MEASUREMENTS}/Server/README.md`,
        (text) => `${text}\n> **Not to be handed in: built to try things out.**\n`,
      ),
    finding: 'dry-run-lengths',
    file: `${MEASUREMENTS}/Server/README.md`,
  },
  {
    what: 'a file above 50 MiB',
    change: (tree) => {
      tree.write(`${ACME}/code/resnet50/large.bin`, 'bytes');
      tree.lengthen(`${ACME}/code/resnet50/large.bin`, LARGE_BYTES);
    },
    finding: 'file-too-large',
    file: `${ACME}/code/resnet50/large.bin`,
  },
  {
    what: 'a name with a space',
    change: (tree) => tree.write(`${ACME}/code/resnet50/read me.md`, 'text'),
    finding: 'name-with-space',
    file: `${ACME}/code/resnet50/read me.md`,
  },
  {
    what: 'a name that begins with a dot',
    change: (tree) => tree.write(`${ACME}/code/.gitignore`, 'dist'),
    finding: 'name-with-dot',
    file: `${ACME}/code/.gitignore`,
  },
  {
    what: 'a name with a character of the shell',
    change: (tree) => tree.write(`${MEASUREMENTS}/Server/a;b.md`, 'text'),
    finding: 'name-not-plain',
    file: `${MEASUREMENTS}/Server/a;b.md`,
  },
  {
    what: 'a cache of Python',
    change: (tree) => tree.write(`${ACME}/code/__pycache__/a.pyc`, 'bytes'),
    finding: 'python-cache',
    file: `${ACME}/code/__pycache__`,
  },
  {
    what: 'an empty folder',
    change: (tree) => tree.folder(`${ACME}/code/empty`),
    finding: 'empty-folder',
    file: `${ACME}/code/empty`,
  },
  {
    what: 'a link that leads to a file',
    change: (tree) => tree.link(`${ACME}/code/link.json`, '../systems/acme-2n.json'),
    finding: 'symlink',
    file: `${ACME}/code/link.json`,
  },
  {
    what: 'a link that leads to a folder',
    change: (tree) => tree.link(`${ACME}/code/resnet`, 'resnet50'),
    finding: 'symlink-to-folder',
    file: `${ACME}/code/resnet`,
  },
  {
    what: 'no summary log',
    change: (tree) => tree.remove(`${SERVER_RUN}/mlperf_log_summary.txt`),
    finding: 'missing-file',
    file: `${SERVER_RUN}/mlperf_log_summary.txt`,
  },
  {
    what: 'no detail log',
    change: (tree) => tree.remove(`${SERVER_RUN}/mlperf_log_detail.txt`),
    finding: 'missing-file',
    file: `${SERVER_RUN}/mlperf_log_detail.txt`,
  },
  {
    what: 'no performance/run_1',
    change: (tree) => tree.remove(`${RESULTS}/Server/performance`),
    finding: 'missing-folder',
    file: SERVER_RUN,
  },
  {
    what: 'a file in run_1 that is none of the list',
    change: (tree) => tree.write(`${SERVER_RUN}/network_audit.json`, '{}'),
    finding: 'extra-file',
    file: `${SERVER_RUN}/network_audit.json`,
  },
  {
    what: 'a file in accuracy/ that is none of the list',
    change: (tree) => tree.write(`${ACCURACY}/notes.txt`, 'text'),
    finding: 'extra-file',
    file: `${ACCURACY}/notes.txt`,
  },
  {
    what: 'a second run',
    change: (tree) => tree.copy(SERVER_RUN, `${RESULTS}/Server/performance/run_2`),
    finding: 'extra-run',
    file: `${RESULTS}/Server/performance/run_2`,
  },
  {
    what: 'no README.md in measurements',
    change: (tree) => tree.remove(`${MEASUREMENTS}/Server/README.md`),
    finding: 'missing-file',
    file: `${MEASUREMENTS}/Server/README.md`,
  },
  {
    what: 'an empty user.conf',
    change: (tree) => tree.write(`${MEASUREMENTS}/Server/user.conf`, ''),
    finding: 'empty-file',
    file: `${MEASUREMENTS}/Server/user.conf`,
  },
  {
    what: 'no mlperf.conf, which v4.1 asks for',
    change: (tree) => tree.remove(`${MEASUREMENTS}/Offline/mlperf.conf`),
    finding: 'missing-file',
    file: `${MEASUREMENTS}/Offline/mlperf.conf`,
  },
  {
    what: 'a line of user.conf that LoadGen refuses',
    change: (tree) =>
      tree.edit(`${MEASUREMENTS}/Server/user.conf`, (text) => `${text}*.*.mode : 2\n`),
    finding: 'conf-not-for-loadgen',
    file: `${MEASUREMENTS}/Server/user.conf`,
  },
  {
    what: 'a user.conf of another run',
    change: (tree) =>
      tree.write(`${MEASUREMENTS}/Server/user.conf`, '*.Server.min_duration = 1000\n'),
    finding: 'user-conf-differs',
    file: `${MEASUREMENTS}/Server/user.conf`,
  },
  {
    what: 'measurements of a system without results',
    change: (tree) => tree.copy(`${ACME}/measurements/acme-2n`, `${ACME}/measurements/acme-3n`),
    finding: 'measurements-unused',
    file: `${ACME}/measurements/acme-3n`,
  },
  {
    what: 'retraining in network',
    change: (tree) =>
      tree.json(`${MEASUREMENTS}/Server/acme-2n_longhaul_Server.json`, (weights) => {
        weights['retraining'] = 'Yes';
      }),
    finding: 'retraining-stated',
    file: `${MEASUREMENTS}/Server/acme-2n_longhaul_Server.json`,
  },
  {
    what: 'a blank in the measurements file',
    change: (tree) =>
      tree.json(`${MEASUREMENTS}/Server/acme-2n_longhaul_Server.json`, (weights) => {
        weights['retraining'] = ' ';
      }),
    finding: 'field-blank',
    file: `${MEASUREMENTS}/Server/acme-2n_longhaul_Server.json`,
  },
  {
    what: 'no measurements file',
    change: (tree) => tree.remove(`${MEASUREMENTS}/Server/acme-2n_longhaul_Server.json`),
    finding: 'measurements-file-missing',
    file: `${MEASUREMENTS}/Server`,
  },
  {
    what: 'an empty value in the measurements file',
    change: (tree) =>
      tree.json(`${MEASUREMENTS}/Server/acme-2n_longhaul_Server.json`, (weights) => {
        weights['retraining'] = '';
      }),
    finding: 'measurements-field-missing',
    file: `${MEASUREMENTS}/Server/acme-2n_longhaul_Server.json`,
  },
  {
    what: 'no code of the model',
    change: (tree) => tree.move(`${ACME}/code/resnet50`, `${ACME}/code/resnet`),
    finding: 'code-missing',
    file: `${ACME}/code/resnet50`,
  },
  {
    what: 'a folder of another model name',
    change: (tree) => tree.move(RESULTS, `${ACME}/results/acme-2n/resnet-50`),
    finding: 'model-unknown',
    file: `${ACME}/results/acme-2n/resnet-50`,
    consequences: ['missing-folder', 'audit-missing'],
  },
  {
    what: 'a required scenario is missing',
    change: (tree) => tree.remove(`${RESULTS}/Offline`),
    finding: 'scenario-missing',
    file: RESULTS,
  },
  {
    what: 'a folder that is no scenario',
    change: (tree) => tree.write(`${RESULTS}/server-old/README.md`, 'text'),
    finding: 'scenario-unknown',
    file: `${RESULTS}/server-old`,
  },
  {
    what: 'a scenario of the edge suite in network',
    change: (tree) => tree.copy(`${RESULTS}/Offline`, `${RESULTS}/SingleStream`),
    finding: 'scenario-not-in-division',
    file: `${RESULTS}/SingleStream`,
    consequences: [
      'missing-folder',
      'scenario-differs',
      'metric-missing',
      'accuracy-log-shared',
      'audit-missing',
      'test-missing',
    ],
  },
  {
    what: 'results of a system without a description',
    change: (tree) => tree.remove(SYSTEM),
    finding: 'system-missing',
    file: SYSTEM,
    consequences: ['empty-folder'],
  },
  {
    what: 'a description without results',
    change: (tree) => tree.copy(SYSTEM, `${ACME}/systems/acme-3n.json`),
    finding: 'system-unused',
    file: `${ACME}/systems/acme-3n.json`,
  },
  {
    what: 'a description that is no JSON',
    change: (tree) => tree.edit(SYSTEM, (text) => text.slice(0, 200)),
    finding: 'json-broken',
    file: SYSTEM,
  },
  {
    what: 'a description in Latin-1',
    change: (tree) =>
      tree.write(
        SYSTEM,
        Buffer.from(tree.text(SYSTEM).replace('"cooling": "', '$&\u00e9'), 'latin1'),
      ),
    finding: 'not-utf8',
    file: SYSTEM,
  },
  {
    what: 'no system diagram',
    change: (tree) => {
      tree.remove(`${ACME}/documentation/acme-2n/system_diagram.svg`);
      tree.remove(`${ACME}/documentation/acme-2n/system_diagram.md`);
    },
    finding: 'diagram-missing',
    file: `${ACME}/documentation`,
  },
  {
    what: 'no document of the wire protocol',
    change: (tree) => tree.remove(`${ACME}/documentation/network.md`),
    finding: 'document-missing',
    file: `${ACME}/documentation`,
  },
  {
    what: 'no statement of the bandwidth',
    change: (tree) => tree.remove(`${ACME}/documentation/acme-2n/bandwidth.md`),
    finding: 'document-missing',
    file: `${ACME}/documentation`,
  },
  {
    what: 'a TODO in a document',
    change: (tree) =>
      tree.edit(`${ACME}/documentation/network.md`, (text) => `${text}\nTODO: the switch\n`),
    finding: 'todo-left',
    file: `${ACME}/documentation/network.md`,
  },
  {
    what: 'no evidence of a run',
    change: (tree) => tree.remove(`${EVIDENCE}/Server/performance/network_audit.json`),
    finding: 'audit-missing',
    file: `${EVIDENCE}/Server/performance/network_audit.json`,
  },
];
