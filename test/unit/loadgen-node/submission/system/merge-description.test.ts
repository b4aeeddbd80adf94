import { describe, expect, it } from 'vitest';
import {
  leftOut,
  parseMergeFile,
  requireGiven,
  type SystemDescription,
} from '../../../../../loadgen-node/submission/system/compose-description.ts';
import { descriptionReport } from '../../../../../loadgen-node/submission/system/describe-system.ts';
import { describeSystem, node, server } from '../../../../scenes/host/described-systems.ts';

// Goal: what only people know comes from their file, and what is wrong in it is named with its
// place. Method: files of a few lines over machines whose facts are known.

describe("the user's file", () => {
  const YAML = `# what nobody else knows
submitter: ACME
status: available
cooling: Air-cooled
system_name: "TODO: later"
host_processors_per_node: 4
network_rate:
favourite_colour: blue
`;

  it('wins over what was read, but not where it is a TODO itself; flags win over it', () => {
    const merged = parseMergeFile('m.yaml', YAML);
    expect(
      describeSystem(server, [node(3)], { merged, said: { submitter: 'Other' } }),
    ).toMatchObject({
      submitter: 'Other',
      status: 'available',
      cooling: 'Air-cooled',
      system_name: expect.stringMatching(/^TODO: name of the system/),
      host_processors_per_node: '4',
      network_rate: '200G',
    });
    expect(leftOut(merged, describeSystem(server, [node(3)]))).toEqual([
      'm.yaml:8:1: favourite_colour is no field of this description',
    ]);
    const withRate = parseMergeFile('m.yaml', 'network_rate: 100G');
    expect(leftOut(withRate, describeSystem(server, []))).toEqual([
      'm.yaml:1:1: network_rate is no field of this description',
    ]);
  });

  it('may be an earlier description', () => {
    const first = describeSystem(server, [node(3)], { said: { submitter: 'ACME' } });
    const merged = parseMergeFile('m.json', JSON.stringify(first));
    expect(describeSystem(server, [node(3)], { merged })).toEqual(first);
  });

  it.each([
    ['a truth value', 'is_network: true', 'm.yaml:1:1: is_network must be "True" in quotes'],
    ['a list', 'cooling: [a]', 'm.yaml:1:1: cooling must be a text'],
    [
      'no whole number',
      'number_of_nodes: N/A',
      'm.yaml:1:1: number_of_nodes: "N/A" must be a whole',
    ],
    ['an unknown status', 'status: soon', '"soon" must be available, preview or rdi'],
    ['another division', 'division: Network', '"Network" must be network, or say --division'],
    ['an empty text', 'cooling: ""', 'must be a text that is not empty'],
    ['control characters', 'cooling: "a\\u0007"', 'must not hold control characters'],
    ['no map', '- a', 'm.yaml:1:1: fields with texts are expected here'],
    ['a key twice', 'cooling: a\ncooling: b', 'm.yaml:2:1'],
    ['a broken text', 'cooling: "a', 'm.yaml:1'],
  ])('is refused with its place for %s', (_case, text, message) => {
    const merge = (): SystemDescription =>
      describeSystem(server, [node(3)], { merged: parseMergeFile('m.yaml', text) });
    expect(merge).toThrow(message);
  });
});

it('the report lists what is left with what to write there', () => {
  const description = describeSystem(server, [node(3)]);
  const rest = {
    warnings: ['careful'],
    leftOut: ['m.yaml:1:1: x is no field of this description'],
    machineCount: 2,
  };
  const { text: report, json } = descriptionReport({
    path: 'systems/a.json',
    description,
    ...rest,
  });
  expect(report.split('\n').slice(0, 5)).toEqual([
    'systems/a.json: 48 fields, 6 of them still to fill in',
    'systems/a.facts.json: what was read, of 2 machines',
    'Left out: m.yaml:1:1: x is no field of this description',
    'Note: careful',
    expect.stringMatching(/^TODO {2}submitter +the organisation/),
  ]);
  expect(json).toMatchObject({ factsPath: 'systems/a.facts.json', machineCount: 2 });
  expect(report).toMatch(/TODO {2}cooling +"Air-cooled", "Liquid"/);
});

it('all wrong values are told at once, whatever is wrong with them', () => {
  const merged = parseMergeFile(
    'm.yaml',
    'status: maybe\nis_network: true\nnumber_of_nodes: two\n',
  );
  const given = { division: 'network', suite: 'datacenter', said: {}, merged } as const;
  expect(() => requireGiven(given, true)).toThrow(
    [
      'm.yaml:2:1: is_network must be "True" in quotes',
      'm.yaml:1:1: status: "maybe" must be available, preview or rdi',
      'm.yaml:3:1: number_of_nodes: "two" must be a whole number',
    ].join('\n'),
  );
});

it('a mistyped key is told with the one that is near to it', () => {
  const merged = parseMergeFile('m.yaml', 'network_rat: 100G\nfavourite_colour: blue\n');
  expect(leftOut(merged, describeSystem(server, [node(3)]))).toEqual([
    'm.yaml:1:1: network_rat is no field of this description; did you mean "network_rate"?',
    'm.yaml:2:1: favourite_colour is no field of this description',
  ]);
});

it('a file may hold nothing but comments', () => {
  expect(parseMergeFile('m.yaml', '# later\n').values).toEqual({});
});
