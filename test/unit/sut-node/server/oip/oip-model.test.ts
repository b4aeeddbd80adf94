import { expect, it } from 'vitest';
import { benchmarkRules } from '../../../../../shared/rules/benchmark-rules.ts';
import type { LoadedModel } from '../../../../../sut-node/model/model-facts.ts';
import { oipModel } from '../../../../../sut-node/server/oip/oip-model.ts';
import type { DelaySettings } from '../../../../../sut-node/settings/delay-settings.ts';
import { NO_DELAY, TEST_SETTINGS } from '../../../../scenes/sut-node/sut-node.ts';

// Goal: what the node says of its model is how it answers. Method: made-up models.

function told(key: string, loaded: Partial<LoadedModel>, delay: Partial<DelaySettings> = {}) {
  const settings = { ...TEST_SETTINGS, batchSizeMax: 8, delay: { ...NO_DELAY, ...delay } };
  const rules = benchmarkRules(key);
  const encodings = Object.values(rules.encodings);
  const responseEncoding = { form: 'raw', compression: 'identity' } as const;
  const offer = { benchmark: key, model: 'm', encodings, responseEncoding };
  const facts = { name: 'sut-a', identity: 'i', settings, offer };
  const tensors = { inputs: [], outputs: [] };
  const { isDecoupled, batchSizeMax, requestSamplesMax, outputs } = oipModel(facts, rules, {
    ...{ tensors, sha256: '', isStandIn: true },
    ...loaded,
  });
  return { isDecoupled, batchSizeMax, requestSamplesMax, outputs };
}

const output = (datatype: string) => [{ name: 'output', datatype, shape: [-1] }];

it.each([
  [
    'generates tokens',
    told('llama2-70b', { batchSizeFixed: 1, sequencesMax: 16 }),
    { isDecoupled: true, batchSizeMax: 1, requestSamplesMax: 1, outputs: output('INT32') },
  ],
  [
    'waits from token to token',
    told('delay', {}, { tokens: { kind: 'fixed', count: 4 } }),
    { isDecoupled: true, batchSizeMax: 1, requestSamplesMax: 1, outputs: output('INT64') },
  ],
  [
    'answers once',
    told('echo', {}),
    { isDecoupled: false, batchSizeMax: 8, requestSamplesMax: undefined, outputs: output('UINT8') },
  ],
])(
  'tells of a model that %s whether a request has several responses, and several samples',
  (_what, model, expected) => {
    expect(model).toEqual(expected);
  },
);
