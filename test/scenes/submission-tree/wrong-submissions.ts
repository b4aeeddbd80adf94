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

/** Changes of a scene's configuration that submission build refuses, each with its problem. */
export const WRONG_SUBMISSIONS: readonly (readonly [RegExp, SceneChange])[] = [
  [
    /submission\.yaml:\d+:7: runs\/none is no folder with the logs of a run/,
    first({ performance: 'runs/none' }),
  ],
  [/the run is of Offline, not of Server/, first({ performance: 'runs/Offline/performance' })],
  [
    /mode is AccuracyOnly; a run for performance has PerformanceOnly/,
    first({ performance: 'runs/Server/accuracy' }),
  ],
  [
    /mode is PerformanceOnly; a run for accuracy has AccuracyOnly[\s\S]*accuracy\.txt is missing/,
    first({ accuracy: 'runs/Server/performance' }),
  ],
  [
    /runs\/Server\/performance: the seeds are those of v4\.1; v5\.0 has its own: run with --round v5\.0/,
    (s) => {
      s.round = 'v5.0';
    },
  ],
  [
    /network\/acme-2n\/resnet50\/Server is there twice: result 1/,
    (s) => s.results.push(s.results[0]),
  ],
  [
    /the run is already the result of acme-2n\/resnet50\/Server/,
    (s) => {
      s.systems.b = s.systems['acme-2n'];
      s.results.push({ ...s.results[0], system: 'b' });
    },
  ],
  [/:\d+:7: unknown system "other"; there is: acme-2n/, first({ system: 'other' })],
  [/unknown implementation "other"/, first({ implementation: 'other' })],
  [/v4\.1 has no model "resnet51" in the network division/, first({ model: 'resnet51' })],
  [
    /resnet50 is of the edge suite alone in v5\.1, and the network division has the datacenter suite only: there it is in v4\.1, v5\.0; in v5\.1 leave network out of "divisions", with a system of the edge suite/,
    (s) => {
      s.round = 'v5.1';
    },
  ],
  [
    /network\/acme-2n\/resnet50 has Server, Offline; datacenter has no such model: it is of the edge suite alone/,
    (s) => {
      s.round = 'v5.1';
    },
  ],
  [
    /v6\.1 has no model "llama2-70b-99" in the network division: there it is in v4\.1, v5\.0, v5\.1, v6\.0/,
    (s) => {
      s.round = 'v6.1';
      s.results[0].model = 'llama2-70b-99';
    },
  ],
  [/the folder of resnet is called "resnet50"/, first({ model: 'resnet' })],
  [
    /network\/acme-2n\/resnet50 lacks Offline, which the datacenter suite asks for/,
    (s) => s.results.pop(),
  ],
  [
    /resnet50 Server lacks TEST01, TEST05, which v4\.1 wants/,
    first({ compliance: { TEST04: 'runs/Server/compliance/TEST04' } }),
  ],
  [/the run is of Offline, not of Server/, first({ compliance: 'runs/Offline/compliance' })],
  [
    /qsl_rng_seed is 16799458546791641818; v4\.1 needs 3066443479025735752/,
    first({
      compliance: {
        TEST01: 'runs/Server/compliance/TEST01',
        TEST04: 'runs/Server/compliance/TEST05',
        TEST05: 'runs/Server/compliance/TEST05',
      },
    }),
  ],
  [
    /TEST04\/accuracy\/mlperf_log_accuracy\.json is missing or empty[\s\S]*x is no folder/,
    first({ compliance: { TEST01: 'runs/Server/compliance/TEST04', TEST04: 'x', TEST05: 'x' } }),
  ],
  [/the network division has the datacenter suite only/, inferred('SingleStream')],
  [
    /only edge systems may infer MultiStream[\s\S]*MultiStream cannot be inferred from Server/,
    inferred('Server', { divisions: ['closed'] }),
  ],
  [/only results of the open division alone/, first({ reference_model: 'resnet' })],
  [
    /unknown implementation "longhual"[\s\S]*none is not there[\s\S]*there is no file \S*none\.onnx with weights/,
    (s) => {
      s.results[0].implementation = 'longhual';
      s.results[1].implementation = 'longhual';
      s.implementations.longhaul.code = ['none'];
      s.implementations.longhaul.weights = [{ file: 'none.onnx' }];
    },
  ],
  [
    /unknown system "acme"[\s\S]*none\.json/,
    (s) => {
      for (const result of s.results) result.system = 'acme';
      s.systems['acme-2n'].file = 'none.json';
    },
  ],
  [
    /v4\.1 has no model "digits": name the one that it stands for as "reference_model" \(resnet, /,
    first({ divisions: ['open'], model: 'digits' }),
  ],
  [
    /v4\.1 has no model "foo"; there is: resnet, /,
    first({ divisions: ['open'], model: 'digits', reference_model: 'foo' }),
  ],
  [
    /resnet50 is a model of v4\.1 itself and can stand for no other/,
    first({ divisions: ['open'], reference_model: 'retinanet' }),
  ],
  [
    /driver is private binary, which no system of the category available may use/,
    implemented({ software: [{ name: 'driver', version: '1', method: 'private-binary' }] }),
  ],
  [
    /driver has neither "version" nor "identifier"/,
    implemented({ software: [{ name: 'driver', method: 'github' }] }),
  ],
  [
    /has the SHA-256 43520951/,
    implemented({ weights: [{ file: 'resnet50_v1.onnx', sha256: 'ab'.repeat(32) }] }),
  ],
  [/there is no file none with weights/, implemented({ weights: [{ file: 'none' }] })],
  [/none is not there/, implemented({ code: ['none'] })],
  [
    /:\d+:\d+: "sut-b" is no end of a link; there is: loadgen, sut, sw1, sut-a/,
    (s) => {
      s.systems['acme-2n'].network.links[1].to = 'sut-b';
    },
  ],
  [
    /no link leads from loadgen to sut-b/,
    (s) => {
      s.systems['acme-2n'].network.sut_nodes.push('sut-b');
      s.systems['acme-2n'].network.links[1].to = 'sut-a';
    },
  ],
  [/"network" is missing/, system({ network: undefined })],
  [/"data_path" is missing/, system({ data_path: undefined })],
];

/** Wrong fields of a system description, and the problem that the build names. */
export const WRONG_DESCRIPTIONS: readonly (readonly [Record<string, unknown>, RegExp])[] = [
  [{ number_of_nodes: 1 }, /number_of_nodes is 1: it has to be a text in quotes/],
  [
    { accelerators_per_node: 'N/A' },
    /accelerators_per_node is "N\/A": it has to be a whole number/,
  ],
  [{ cooling: '' }, /cooling is empty/],
  [{ cooling: 'TODO: air or liquid' }, /fill in cooling: there still stands TODO/],
  [{ status: 'soon' }, /status is "soon": it has to be available or preview or rdi/],
  [
    { system_type: 'edge' },
    /system_type is "edge": it has to be datacenter in the network division/,
  ],
  [{ submitter: 'Other' }, /submitter is "Other"; the configuration says "ACME"/],
  [{ framework: undefined, nic_sut: undefined }, /the description lacks framework, nic_sut/],
];
