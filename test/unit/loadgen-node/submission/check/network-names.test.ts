/**
 * Goal: each fault of a network result that its logs and description show has its own verdict.
 * Method: planted in generated trees of v3.0 and v4.1, in the words of the C++ LoadGen.
 */
import { expect, it } from 'vitest';
import { type Change, json, record, replace } from '../../../../scenes/submission-tree/changes.ts';
import { checkedTree } from '../../../../scenes/submission-tree/submission-tree.ts';

const RESULT = 'network/ACME/results/acme/resnet50/Server';
const PERFORMANCE = `${RESULT}/performance/run_1`;
const DETAIL = 'mlperf_log_detail.txt';
const TIME = 'get_sut_name_duration_ns';
const SYSTEM = 'network/ACME/systems/acme.json';

const time = (ns: string | null) => record(`${PERFORMANCE}/${DETAIL}`, TIME, ns);
const accuracyName = (name: string) =>
  record(`${RESULT}/accuracy/${DETAIL}`, 'sut_name', JSON.stringify(name));

/** The performance run under another name, in its summary as well. */
const name = (text: string): Change[] => [
  record(`${PERFORMANCE}/${DETAIL}`, 'sut_name', JSON.stringify(text)),
  replace(`${PERFORMANCE}/mlperf_log_summary.txt`, 'Network SUT: node', text),
];

/** The same name in every run of both results. */
const nameEverywhere = (text: string): Change[] =>
  ['Server', 'Offline'].flatMap((scenario) => {
    const runs = [
      ...['performance/run_1', 'accuracy'].map(
        (run) => `network/ACME/results/acme/resnet50/${scenario}/${run}`,
      ),
      ...['TEST01', 'TEST04', 'TEST05'].map(
        (test) => `network/ACME/compliance/acme/resnet50/${scenario}/${test}/performance/run_1`,
      ),
    ];
    return runs.flatMap((run) => [
      record(`${run}/${DETAIL}`, 'sut_name', JSON.stringify(text)),
      replace(`${run}/mlperf_log_summary.txt`, 'Network SUT: node', text),
    ]);
  });

const ALWAYS = 'warning network-rules-unproved';

const PLANTED: readonly (readonly [string, readonly Change[], readonly string[]])[] = [
  ['Name() in 305 ns', [time('305')], ['error name-without-round-trip']],
  ['Name() in 1,999 ns', [time('1999')], ['error name-without-round-trip']],
  ['Name() in 2,000 ns over TCP', [time('2000')], ['warning name-quicker-than-tcp']],
  ['Name() in 4,000 ns over TCP', [time('4000')], ['warning name-quicker-than-tcp']],
  [
    'Name() in 4,000 ns over gRPC',
    [time('4000'), json(SYSTEM, { network_protocol: 'gRPC' })],
    ['warning name-quicker-than-tcp'],
  ],
  [
    'Name() in 4,000 ns over InfiniBand verbs',
    [time('4000'), json(SYSTEM, { network_protocol: 'InfiniBand verbs' })],
    [],
  ],
  ['Name() in 15,000 ns over TCP', [time('15000')], []],
  ['Name() in 460 s', [time('459915871439')], ['note name-slow']],
  ['no time of Name()', [time(null)], ['note name-time-missing']],
  [
    'no time of Name() in a log of LoadGen 2.0',
    [time(null), record(`${PERFORMANCE}/${DETAIL}`, 'loadgen_version', '"2.0 @ 9e0f9a3b21"')],
    [],
  ],
  [
    'a name without "Network SUT"',
    name('BERT SERVER'),
    ['error sut-name', 'warning sut-names-differ'],
  ],
  [
    'a name in lower case',
    name('network sut: node'),
    ['error sut-name', 'warning sut-names-differ'],
  ],
  [
    'another name in the accuracy run',
    [accuracyName('KILT_Network SUT')],
    ['warning sut-names-differ'],
  ],
  [
    'a name without "Network SUT" in the accuracy run',
    [accuracyName('BERT SERVER')],
    ['warning accuracy-sut-name', 'warning sut-names-differ'],
  ],
  [
    'four nodes with one name',
    [json(SYSTEM, { number_of_nodes: 4 })],
    ['warning name-without-nodes'],
  ],
  [
    'two nodes with their names',
    [json(SYSTEM, { number_of_nodes: '2' }), ...nameEverywhere('Network SUT: a, b')],
    [],
  ],
  ['is_network False', [json(SYSTEM, { is_network: 'False' })], ['error is-network-false']],
  ['network_type PCIe', [json(SYSTEM, { network_type: 'PCIe' })], ['warning bus-interconnect']],
  [
    'network_protocol NVLink',
    [json(SYSTEM, { network_protocol: 'NVLink' })],
    ['warning bus-interconnect'],
  ],
  [
    'a slower link than the result needs',
    [json(SYSTEM, { network_rate: '0.1 Gb/s' })],
    ['warning bandwidth-too-small'],
  ],
  ['no connection', [json(SYSTEM, { number_connections: 0 })], ['warning network-count-zero']],
];

it.each(
  PLANTED.map(([title, changes, expected], i) => {
    const round = i % 2 === 0 ? ('v3.0' as const) : ('v4.1' as const);
    return { title, round, changes, expected };
  }),
)('of $round: $title', async ({ round, changes, expected }) => {
  const { findings } = await checkedTree({ division: 'network', round, changes });
  const verdicts = findings.map(({ severity, id }) => `${severity} ${id}`);
  expect([...new Set(verdicts)].sort()).toEqual([ALWAYS, ...expected].sort());
});

it('tells times of all runs of a result in one finding, and where they stand', async () => {
  const changes = [time('305'), record(`${RESULT}/accuracy/${DETAIL}`, TIME, '516')];
  const { findings } = await checkedTree({ division: 'network', changes });
  const [found, ...others] = findings.filter(({ id }) => id === 'name-without-round-trip');
  expect(found).toMatchObject({
    file: `${PERFORMANCE}/${DETAIL}`,
    seen: 'Name() took 305 to 516 ns in 2 of 5 logs.',
  });
  expect(others).toEqual([]);
});

it('tells runs without evidence once for a submitter, at a path that is there', async () => {
  const { findings } = await checkedTree({ division: 'network' });
  expect(findings.map(({ id, file, seen }) => [id, file, seen])).toEqual([
    [
      'network-rules-unproved',
      'network/ACME',
      `Of 10 runs there is none; the first is network/ACME/results/acme/resnet50/Offline/performance/run_1/${DETAIL}.`,
    ],
  ]);
});
