import { describe, expect, it } from 'vitest';
import {
  configurationName,
  providerOf,
} from '../../../../../sut-node/server/describe/node-offer.ts';
import type { SutSettings } from '../../../../../sut-node/settings/sut-settings.ts';
import { TEST_SETTINGS } from '../../../../scenes/sut-node/sut-node.ts';

// Goal: one configuration has one name, wherever the node is, and any other has another. Method:
// settings in, name out.

const OFFER = {
  benchmark: 'digits',
  model: 'small',
  encodings: [],
  responseEncoding: { form: 'raw', compression: 'identity' },
};

function nameOf(changes: Partial<SutSettings> = {}, sha256 = 'ab'): string {
  const settings = { ...TEST_SETTINGS, ...changes };
  const tensors = { inputs: [], outputs: [] };
  return configurationName({ settings, offer: OFFER }, { tensors, sha256, isStandIn: false });
}

/** Other values of the settings that are lists. */
const LISTS: Partial<Record<string, unknown>> = {
  providers: ['cuda'],
  batchPreferredSizes: [2],
};

describe('configurationName', () => {
  it('tells benchmark, model, provider, workers, threads, batch and a digest', () => {
    const name = nameOf({ workerCount: 2, threadsPerWorker: 3, batchSizeMax: 4 });
    expect(name).toMatch(/^digits\/small\/cpu-w2t3b4\/[0-9a-f]{8}$/);
  });

  it('tells of a model that generates how many sequences are side by side', () => {
    const loaded = { tensors: { inputs: [], outputs: [] }, sha256: 'ab', isStandIn: false };
    const generating = { ...loaded, batchSizeFixed: 1, sequencesMax: 16 };
    expect(configurationName({ settings: TEST_SETTINGS, offer: OFFER }, generating)).toMatch(
      /^digits\/small\/cpu-w\d+t\d+b16\//,
    );
  });

  it('depends on nothing but the values of the settings', () => {
    const turned = Object.fromEntries(Object.entries(TEST_SETTINGS).reverse());
    expect(nameOf(turned)).toBe(nameOf());
  });

  it.each<[string, Partial<SutSettings>]>([
    ['the name of the node', { node: 'sut-b' }],
    ['where it listens', { listen: { host: '0.0.0.0', port: 7 } }],
    ['where its health is', { healthListen: { host: '::1', port: 7 } }],
    ['where its metrics are', { metricsListen: { host: '::1', port: 7 } }],
    ['where its cache is', { cacheFolder: '/elsewhere' }],
  ])('is the same whatever %s', (_case, changes) => {
    expect(nameOf(changes)).toBe(nameOf());
  });

  it('is the same wherever a file lies, and another where there is none', () => {
    const a = nameOf({ model: '/a/m.onnx', tokenFile: '/a/token' });
    expect(nameOf({ model: '/b/m.onnx', tokenFile: '/b/token' })).toBe(a);
    expect(nameOf({ model: '/a/m.onnx' })).not.toBe(a);
  });

  it('is another for every other value of every other setting', () => {
    // The requested value alone, beside the effective one, changes nothing.
    const told = ['healthListen', 'metricsListen', 'tellsSystemFacts'];
    const places = ['node', 'listen', ...told, 'cacheFolder', 'batchSizeAsked'];
    const keys = Object.keys(TEST_SETTINGS).filter((key) => !places.includes(key));
    const names = keys.map((key) => nameOf({ [key]: LISTS[key] ?? 77 }));
    expect(new Set([...names, nameOf()]).size).toBe(keys.length + 1);
  });

  it('is another for another model file of the same name', () => {
    expect(nameOf({}, 'cd')).not.toBe(nameOf());
  });
});

describe('providerOf', () => {
  it('is cpu where nothing else is set, and tells several in their order', () => {
    expect(providerOf(TEST_SETTINGS)).toBe('cpu');
    expect(providerOf({ ...TEST_SETTINGS, providers: ['cuda', 'cpu'] })).toBe('cuda+cpu');
  });
});
