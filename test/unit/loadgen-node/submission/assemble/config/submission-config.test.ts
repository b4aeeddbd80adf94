/*
 * Goal: a configuration that is wrong is refused with everything that is wrong and where it stands.
 * Method: a small good file, one change each.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSubmissionConfig } from '../../../../../../loadgen-node/submission/assemble/config/read-submission-config.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

const GOOD = `submission:
  submitter: ACME
  systems:
    acme-2n: { file: systems/acme-2n.json }
  implementations:
    longhaul:
      weights: [{ file: model.onnx }]
      calibration: { text: none }
      starting_weights_filename: model.onnx
      weight_data_types: fp32
      weight_transformations: none
      input_data_types: uint8
      retraining: 'No'
  results:
    - { division: open, system: acme-2n, implementation: longhaul, model: resnet50, scenario: Server,
        performance: p, accuracy: a }
`;

function read(text: string): string {
  const file = join(tempFolder(), 's.yaml');
  writeFileSync(file, text);
  try {
    readSubmissionConfig(file);
    return '';
  } catch (error) {
    return (error as Error).message.replaceAll(file, 's.yaml');
  }
}

it('reads a good file; v4.1 is the round where none is said, paths lie beside the file', () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 's.yaml'), GOOD);
  const config = readSubmissionConfig(join(folder, 's.yaml'));
  expect(config.entry.round).toBe('v4.1');
  expect(config.entry.results[0]?.divisions).toEqual(['open']);
  expect(config.resolve('runs/a')).toBe(join(folder, 'runs/a'));
  expect(config.resolve('/runs/a')).toBe('/runs/a');
  expect(config.placeOf(['results', 0, 'scenario'])).toMatch(/s\.yaml:15:/);
});

it.each([
  ['text that is no YAML', 'submission: [', /^s\.yaml:1:14: /],
  ['a key twice', `${GOOD}  submitter: B\n`, /^s\.yaml:17:3: the key "submitter" stands twice/],
  ['an empty file', '', /s\.yaml:1:1: the file must be a map of: submission/],
  [
    'a file without submission',
    'other: 1\n',
    /s\.yaml:1:1: unknown key "other" in the file; there is: submission$/m,
  ],
  [
    'an unknown key',
    GOOD.replace('submitter: ACME', 'submiter: ACME'),
    /^s\.yaml:2:3: unknown key "submiter" in submission; did you mean "submitter"\?$/,
  ],
  [
    'a missing key',
    GOOD.replace('  submitter: ACME\n', ''),
    /s\.yaml:1:1: submission\.submitter is missing: it must be a name/,
  ],
  [
    'an unknown round',
    GOOD.replace('ACME', 'ACME\n  round: v4.0'),
    /s\.yaml:3:3: submission\.round must be one of: v0\.5, v4\.1, v5\.0.*; v4\.0 can be judged \(submission check\) but not run/,
  ],
  [
    'a name with a blank',
    GOOD.replace('submitter: ACME', 'submitter: A B'),
    /s\.yaml:2:3: submission\.submitter must be a name of letters/,
  ],
  [
    'a system with a leading dot',
    GOOD.replace('acme-2n: {', '.acme: {'),
    /s\.yaml:4:5: the name "\.acme" must be a name/,
  ],
  [
    'a number for a text',
    GOOD.replace('weight_data_types: fp32', 'weight_data_types: 32'),
    /s\.yaml:10:7: .*weight_data_types must be a text/,
  ],
  [
    'weights of nowhere',
    GOOD.replace('{ file: model.onnx }', '{ sha256: x }'),
    /sha256 must be the 64 hexadecimal digits/,
  ],
  [
    'weights that nobody can know',
    GOOD.replace('{ file: model.onnx }', '{ source: "https://a" }'),
    /s\.yaml:7:17: .*must have "sha256"/,
  ],
  [
    'a calibration of two kinds',
    GOOD.replace('{ text: none }', '{ text: a, file: b }'),
    /calibration must have either "text" or "file"/,
  ],
  [
    'no result',
    GOOD.replace(/results:[\s\S]*/, 'results: []'),
    /results must have at least one result/,
  ],
  [
    'an unknown scenario',
    GOOD.replace('scenario: Server', 'scenario: server'),
    /s\.yaml:15:\d+: submission\.results\.0\.scenario must be one of: Server/,
  ],
  [
    'an unknown division',
    GOOD.replace('division: open', 'division: Open'),
    /division must be one of: closed, network, open/,
  ],
  [
    'both division and divisions',
    GOOD.replace('division: open', 'division: open, divisions: [open]'),
    /must have either "division" or "divisions"/,
  ],
  [
    'a division twice',
    GOOD.replace('division: open', 'divisions: [open, open]'),
    /must not name a division twice/,
  ],
  [
    'a result without runs',
    GOOD.replace('performance: p, accuracy: a', ''),
    /must have "performance" and "accuracy", or "inferred_from"/,
  ],
  [
    'an inferred result with runs',
    GOOD.replace('accuracy: a', 'accuracy: a, inferred_from: SingleStream'),
    /or "inferred_from" and neither/,
  ],
  [
    'an unknown test',
    GOOD.replace('accuracy: a', 'accuracy: a, compliance: { TEST02: x }'),
    /compliance/,
  ],
  [
    'a link without a rate',
    GOOD.replace(
      'acme-2n.json }',
      'acme-2n.json, network: { sut_nodes: [a], links: [{ from: loadgen, to: a, media: x, rate: fast }] } }',
    ),
    /s\.yaml:4:\d+: .*links\.0\.rate must be the rate of one link such as 100G/,
  ],
])('refuses %s', (_case, text, message) => {
  expect(read(text)).toMatch(message);
});

it('lists everything that is wrong at once', () => {
  const text = GOOD.replace('submitter: ACME', 'submiter: ACME')
    .replace('fp32', '32')
    .replace('Server', 'x');
  expect(read(text).split('\n')).toHaveLength(3);
});

it('reads the example of the documentation', () => {
  const guide = new URL('../../../../../../docs/submit.md', import.meta.url);
  const example = /```yaml\n(submission:[\s\S]*?)```/.exec(readFileSync(guide, 'utf8'))?.[1] ?? '';
  expect(example).toContain('submission:');
  expect(read(example)).toBe('');
});
