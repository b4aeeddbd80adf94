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
    /submission\.yaml:\d+:7: runs\/none is not a folder with the logs of a run/,
    first({ performance: 'runs/none' }),
  ],
  [
    /submission\.yaml:\d+:7: runs\/Offline\/performance\/mlperf_log_detail\.txt:\d+: It is Offline, not Server\..*\(scenario-differs: /,
    (s) => {
      s.results.pop();
      s.results[0].performance = 'runs/Offline/performance';
    },
  ],
  [
    /:\d+:7: runs\/Server\/accuracy\/mlperf_log_detail\.txt:\d+: It is AccuracyOnly\..*\(mode-differs: /,
    first({ performance: 'runs/Server/accuracy' }),
  ],
  [
    /:\d+:7: \S+: accuracy\.txt is missing\.[\s\S]*:\d+:7: runs\/Server\/performance\/mlperf_log_detail\.txt:\d+: It is PerformanceOnly/,
    first({ accuracy: 'runs/Server/performance' }),
  ],
  [
    /runs\/Server\/performance\/mlperf_log_detail\.txt:\d+: effective_qsl_rng_seed is 3066443479025735752, not \d+\. Run with the round's mlperf\.conf \(--round\)/,
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
  [
    /:\d+:7: network\/ACME\/results\/acme-2n\/resnet51: "resnet51" is no model of round v4\.1\./,
    first({ model: 'resnet51' }),
  ],
  [
    /"resnet50" is of the edge suite alone in v5\.1, and the system of "datacenter"\./,
    (s) => {
      s.round = 'v5.1';
    },
  ],
  [
    /"llama2-70b-99" is no model of round v6\.1\./,
    (s) => {
      s.round = 'v6.1';
      s.results[0].model = 'llama2-70b-99';
    },
  ],
  [
    /the folder of resnet is called "resnet50"/,
    (s) => {
      for (const result of s.results) result.model = 'resnet';
    },
  ],
  [
    /:\d+:7: network\/ACME\/results\/acme-2n\/resnet50: Offline is missing\..*\(scenario-missing: /,
    (s) => s.results.pop(),
  ],
  [
    /:\d+:7: \S+\/TEST01: TEST01 is missing\.[\s\S]*TEST05 is missing\. Run it: longhaul compliance TEST05 --run runs\/Server\/performance\. /,
    first({ compliance: { TEST04: 'runs/Server/compliance/TEST04' } }),
  ],
  [
    /runs\/Offline\/compliance\/TEST01\/performance\/run_1\/mlperf_log_detail\.txt:\d+: It is Offline, not Server\./,
    first({ compliance: 'runs/Offline/compliance' }),
  ],
  [
    /:\d+:9: \S+: effective_qsl_rng_seed is 16799458546791641818, not 3066443479025735752\./,
    first({
      compliance: {
        TEST01: 'runs/Server/compliance/TEST01',
        TEST04: 'runs/Server/compliance/TEST05',
        TEST05: 'runs/Server/compliance/TEST05',
      },
    }),
  ],
  [
    /:\d+:9: \S+\/TEST01\/accuracy: There is no such folder\.[\s\S]*TEST04 is missing\./,
    first({ compliance: { TEST01: 'runs/Server/compliance/TEST04', TEST04: 'x', TEST05: 'x' } }),
  ],
  [
    /:\d+:7: there is no measured SingleStream result of acme-2n and resnet50 in network/,
    inferred('SingleStream'),
  ],
  [
    /It is Server, not MultiStream\.[\s\S]*\(scenario-not-in-division: /,
    inferred('Server', { divisions: ['network'] }),
  ],
  [
    /It is Server, not MultiStream\.[\s\S]*The model has no MultiStream in the suite\./,
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
  [{ accelerators_per_node: 'N/A' }, /accelerators_per_node is "N\/A"\..*\(field-not-number: /],
  [{ cooling: '' }, /:\d+:7: cooling is "", which counts as empty\./],
  [
    { cooling: 'TODO: air or liquid' },
    /cooling is "TODO: air or liquid"\. Fill in the value\..*--dry-run-lengths/,
  ],
  [{ status: 'soon' }, /status is "soon"\. Choose one of the three/],
  [{ system_type: 'edge' }, /system_type is "edge"\..*\(not-datacenter: /],
  [{ submitter: 'Other' }, /submitter is "Other"; the configuration says "ACME"/],
  [
    { framework: undefined, nic_sut: undefined },
    /framework is missing\.[\s\S]*nic_sut is missing\./,
  ],
];
