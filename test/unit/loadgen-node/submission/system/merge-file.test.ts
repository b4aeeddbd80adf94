import { expect, it } from 'vitest';
import {
  leftOut,
  requireGiven,
} from '../../../../../loadgen-node/submission/system/compose-description.ts';
import type { FactsFile } from '../../../../../loadgen-node/submission/system/facts-file.ts';
import { parseMergeFile } from '../../../../../loadgen-node/submission/system/merge-file.ts';

// Goal: who wrote three wrong lines corrects them once, before any machine is asked. Method: a file's text.
it('all wrong values are told at once, whatever is wrong with them', () => {
  const merged = parseMergeFile(
    'm.yaml',
    'status: maybe\nis_network: true\nnumber_of_nodes: two\n',
  );
  const given = { division: 'network', suite: 'datacenter', said: {}, merged } as const;
  expect(() => requireGiven(given, { hasNodes: true })).toThrow(
    [
      'm.yaml:2:1: is_network must be "True" in quotes',
      'm.yaml:1:1: status: "maybe" must be available, preview or rdi',
      'm.yaml:3:1: number_of_nodes: "two" must be a whole number',
    ].join('\n'),
  );
});

it('a mistyped key is told with the one that is near to it', () => {
  const facts = { sutNodes: [{}] } as unknown as FactsFile;
  const merged = parseMergeFile('m.yaml', 'network_rat: 100G\nfavourite_colour: blue\n');
  expect(leftOut({ division: 'network', facts, merged })).toEqual([
    'm.yaml:1:1: network_rat is no field of this description; did you mean "network_rate"?',
    'm.yaml:2:1: favourite_colour is no field of this description',
  ]);
});

it('a file may hold nothing but comments', () => {
  expect(parseMergeFile('m.yaml', '# later\n').values).toEqual({});
});
