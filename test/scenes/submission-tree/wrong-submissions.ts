import type { SceneChange } from './built-tree.ts';

/** Changes values of the first result. */
const first =
  (values: Readonly<Record<string, unknown>>): SceneChange =>
  ({ results }) =>
    Object.assign(results[0], values);

/** Adds a result that is inferred from another scenario's. */
const inferred =
  (from: string, more: Readonly<Record<string, unknown>> = {}): SceneChange =>
  ({ results }) => {
    const { performance: _, accuracy: __, ...rest } = results[0];
    results.push({ ...rest, scenario: 'MultiStream', inferred_from: from, ...more });
  };

/** Changes values of the implementation, of the system. */
const implemented =
  (values: Readonly<Record<string, unknown>>): SceneChange =>
  ({ implementations }) =>
    Object.assign(implementations.longhaul, values);
const system =
  (values: Readonly<Record<string, unknown>>): SceneChange =>
  ({ systems }) =>
    Object.assign(systems['acme-2n'], values);

/** What submission build refuses in a scene's configuration: case, change, the problem. */
export const WRONG_SUBMISSIONS: readonly (readonly [string, SceneChange, RegExp])[] = [
  [
    'a folder that is not there',
    first({ performance: 'runs/none' }),
    /submission\.yaml:\d+:7: runs\/none is no folder with the logs of a run/,
  ],
  [
    'a run of another scenario',
    first({ performance: 'runs/Offline/performance' }),
    /the run is of Offline, not of Server/,
  ],
  [
    'an accuracy run as performance',
    first({ performance: 'runs/Server/accuracy' }),
    /mode is AccuracyOnly; a run for performance has PerformanceOnly/,
  ],
  [
    'a performance run as accuracy',
    first({ accuracy: 'runs/Server/performance' }),
    /mode is PerformanceOnly; a run for accuracy has AccuracyOnly[\s\S]*accuracy\.txt is missing/,
  ],
  [
    'runs of another round',
    (s) => {
      s.round = 'v5.0';
    },
    /runs\/Server\/performance: the seeds are those of v4\.1; v5\.0 has its own: run with --round v5\.0/,
  ],
  [
    'a result twice',
    (s) => s.results.push(s.results[0]),
    /network\/acme-2n\/resnet50\/Server is there twice: result 1/,
  ],
  [
    'a run as the result of two systems',
    (s) => {
      s.systems.b = s.systems['acme-2n'];
      s.results.push({ ...s.results[0], system: 'b' });
    },
    /the run is already the result of acme-2n\/resnet50\/Server/,
  ],
  [
    'an unknown system',
    first({ system: 'other' }),
    /:\d+:7: unknown system "other"; there is: acme-2n/,
  ],
  [
    'an unknown implementation',
    first({ implementation: 'other' }),
    /unknown implementation "other"/,
  ],
  [
    'a model that the round does not have',
    first({ model: 'resnet51' }),
    /v4\.1 has no model "resnet51" in the network division/,
  ],
  [
    'a model by the wrong folder',
    first({ model: 'resnet' }),
    /the folder of resnet is called "resnet50"/,
  ],
  [
    'a missing scenario',
    (s) => s.results.pop(),
    /network\/acme-2n\/resnet50 lacks Offline, which the datacenter suite asks for/,
  ],
  [
    'missing compliance tests',
    first({ compliance: { TEST04: 'runs/Server/compliance/TEST04' } }),
    /resnet50 Server lacks TEST01, TEST05, which v4\.1 wants/,
  ],
  [
    'a test of another scenario',
    first({ compliance: 'runs/Offline/compliance' }),
    /the run is of Offline, not of Server/,
  ],
  [
    'the seeds of TEST05 in TEST04',
    first({
      compliance: {
        TEST01: 'runs/Server/compliance/TEST01',
        TEST04: 'runs/Server/compliance/TEST05',
        TEST05: 'runs/Server/compliance/TEST05',
      },
    }),
    /qsl_rng_seed is 16799458546791641818; v4\.1 needs 3066443479025735752/,
  ],
  [
    'a test without its files',
    first({ compliance: { TEST01: 'runs/Server/compliance/TEST04', TEST04: 'x', TEST05: 'x' } }),
    /TEST04\/accuracy\/mlperf_log_accuracy\.json is missing or empty[\s\S]*x is no folder/,
  ],
  [
    'an inferred result in network',
    inferred('SingleStream'),
    /the network division has the datacenter suite only/,
  ],
  [
    'an inferred result of a datacenter system',
    inferred('Server', { divisions: ['closed'] }),
    /only edge systems may infer MultiStream[\s\S]*MultiStream cannot be inferred from Server/,
  ],
  [
    'a reference model outside open',
    first({ reference_model: 'resnet' }),
    /only results of the open division alone/,
  ],
  [
    'a mistyped implementation whose files are missing as well',
    (s) => {
      s.results[0].implementation = 'longhual';
      s.results[1].implementation = 'longhual';
      s.implementations.longhaul.code = ['none'];
      s.implementations.longhaul.weights = [{ file: 'none.onnx' }];
    },
    /unknown implementation "longhual"[\s\S]*none is not there[\s\S]*there is no file \S*none\.onnx with weights/,
  ],
  [
    'a mistyped system whose description is missing as well',
    (s) => {
      for (const result of s.results) result.system = 'acme';
      s.systems['acme-2n'].file = 'none.json';
    },
    /unknown system "acme"[\s\S]*none\.json/,
  ],
  [
    'a model of its own that stands for none',
    first({ divisions: ['open'], model: 'digits' }),
    /v4\.1 has no model "digits": name the one that it stands for as "reference_model" \(resnet, /,
  ],
  [
    'a reference model that the round does not know',
    first({ divisions: ['open'], model: 'digits', reference_model: 'foo' }),
    /v4\.1 has no model "foo"; there is: resnet, /,
  ],
  [
    'a model of the round that stands for another',
    first({ divisions: ['open'], reference_model: 'retinanet' }),
    /resnet50 is a model of v4\.1 itself and can stand for no other/,
  ],
  [
    'a private component of an available system',
    implemented({ software: [{ name: 'driver', version: '1', method: 'private-binary' }] }),
    /driver is private binary, which no system of the category available may use/,
  ],
  [
    'a component that nothing identifies',
    implemented({ software: [{ name: 'driver', method: 'github' }] }),
    /driver has neither "version" nor "identifier"/,
  ],
  [
    'weights with another hash',
    implemented({ weights: [{ file: 'resnet50_v1.onnx', sha256: 'ab'.repeat(32) }] }),
    /has the SHA-256 43520951/,
  ],
  [
    'weights that are not there',
    implemented({ weights: [{ file: 'none' }] }),
    /there is no file none with weights/,
  ],
  ['code that is not there', implemented({ code: ['none'] }), /none is not there/],
  [
    'a link to nowhere',
    (s) => {
      s.systems['acme-2n'].network.links[1].to = 'sut-b';
    },
    /:\d+:\d+: "sut-b" is no end of a link; there is: loadgen, sut, sw1, sut-a/,
  ],
  [
    'a node without a link',
    (s) => {
      s.systems['acme-2n'].network.sut_nodes.push('sut-b');
      s.systems['acme-2n'].network.links[1].to = 'sut-a';
    },
    /no link leads from loadgen to sut-b/,
  ],
  ['no network', system({ network: undefined }), /"network" is missing/],
  ['no way of the data', system({ data_path: undefined }), /"data_path" is missing/],
];

/** What it refuses in a system description: case, fields, the problem. */
export const WRONG_DESCRIPTIONS: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
  ['a JSON number', { number_of_nodes: 1 }, /number_of_nodes is 1: it has to be a text in quotes/],
  [
    'N/A as a number',
    { accelerators_per_node: 'N/A' },
    /accelerators_per_node is "N\/A": it has to be a whole number/,
  ],
  ['an empty text', { cooling: '' }, /cooling is empty/],
  [
    'something to fill in',
    { cooling: 'TODO: air or liquid' },
    /fill in cooling: there still stands TODO/,
  ],
  [
    'a status of its own',
    { status: 'soon' },
    /status is "soon": it has to be available or preview or rdi/,
  ],
  [
    'an edge system in network',
    { system_type: 'edge' },
    /system_type is "edge": it has to be datacenter in the network division/,
  ],
  [
    'another submitter',
    { submitter: 'Other' },
    /submitter is "Other"; the configuration says "ACME"/,
  ],
  [
    'missing fields',
    { framework: undefined, nic_sut: undefined },
    /the description lacks framework, nic_sut/,
  ],
];
