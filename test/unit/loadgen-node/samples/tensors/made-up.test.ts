import { describe, expect, it } from 'vitest';
import { parseDataSource } from '../../../../../loadgen-node/samples/model-inputs/data-source.ts';
import { openTensorDataSet } from '../../../../../loadgen-node/samples/model-inputs/open-tensor-data-set.ts';
import {
  OIP_ELEMENT_BYTES,
  type OipDataType,
  type OipTensor,
} from '../../../../../shared/domain/tensors.ts';

// Goal: made-up samples have the values that the docs promise, in every datatype, and are the same
// in every run. Method: look at all elements of a sample of some thousand.

const COUNT = 4_096;

function input(datatype: OipDataType, shape: readonly number[] = [COUNT]): OipTensor {
  return { name: 'x', datatype, shape };
}

async function rawOf(datatype: OipDataType, options = {}, sample = 0): Promise<Buffer> {
  const dataSet = await openTensorDataSet({ kind: 'random' }, [input(datatype)], options);
  return Buffer.from(await dataSet.readPayload(sample, 'raw'));
}

/** A 16-bit float as a number. */
function smallFloat(bits: number, exponentBits: number): number {
  const fractionBits = 15 - exponentBits;
  const exponent = bits >> fractionBits;
  const fraction = bits % 2 ** fractionBits;
  const bias = 2 ** (exponentBits - 1) - 1;
  if (exponent === 0) return fraction * 2 ** (1 - bias - fractionBits);
  return (2 ** fractionBits + fraction) * 2 ** (exponent - bias - fractionBits);
}

const READERS: Readonly<Record<string, (raw: Buffer, at: number) => number>> = {
  BOOL: (raw, at) => raw.readUInt8(at),
  UINT8: (raw, at) => raw.readUInt8(at),
  INT8: (raw, at) => raw.readInt8(at),
  UINT16: (raw, at) => raw.readUInt16LE(at),
  INT16: (raw, at) => raw.readInt16LE(at),
  UINT32: (raw, at) => raw.readUInt32LE(at),
  INT32: (raw, at) => raw.readInt32LE(at),
  UINT64: (raw, at) => Number(raw.readBigUInt64LE(at)),
  INT64: (raw, at) => Number(raw.readBigInt64LE(at)),
  FP16: (raw, at) => smallFloat(raw.readUInt16LE(at), 5),
  BF16: (raw, at) => smallFloat(raw.readUInt16LE(at), 8),
  FP32: (raw, at) => raw.readFloatLE(at),
  FP64: (raw, at) => raw.readDoubleLE(at),
};

it.each(['random', 'zeros'] as const)('%s has no element in an axis of length 0', async (kind) => {
  const dataSet = await openTensorDataSet({ kind }, [input('INT64', [0]), input('FP32', [2])]);
  const tensors = await dataSet.sampleTensors(0);
  expect(tensors.map(({ shape, raw }) => [shape, raw.length])).toEqual([
    [[0], 0],
    [[2], 8],
  ]);
});

describe('random', () => {
  // Bounds of the mean: four standard deviations of the mean of 4096 uniform draws and more.
  it.each([
    ['BOOL', 0, 1, 0.5],
    ['UINT8', 0, 255, 127.5],
    ['INT8', -128, 127, -0.5],
    ['UINT16', 0, 99, 49.5],
    ['INT16', 0, 99, 49.5],
    ['UINT32', 0, 99, 49.5],
    ['INT32', 0, 99, 49.5],
    ['UINT64', 0, 99, 49.5],
    ['INT64', 0, 99, 49.5],
    ['FP16', 0, 1 - 2 ** -11, 0.5],
    ['BF16', 0, 1 - 2 ** -8, 0.498],
    ['FP32', 0, 0.99999995, 0.5],
    ['FP64', 0, 0.99999999999, 0.5],
  ] as const)('fills %s from %f to %f evenly', async (datatype, low, high, mean) => {
    const raw = await rawOf(datatype);
    const step = OIP_ELEMENT_BYTES[datatype];
    expect(raw.length).toBe(COUNT * step);
    const values = Array.from({ length: COUNT }, (_, i) => READERS[datatype]?.(raw, i * step) ?? 0);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const range = high - low;
    expect(least).toBeGreaterThanOrEqual(low);
    expect(most).toBeLessThanOrEqual(high);
    expect(most - least).toBeGreaterThan(range * 0.99);
    const sum = values.reduce((total, value) => total + value, 0);
    expect(Math.abs(sum / COUNT - mean)).toBeLessThan(0.04 * range);
  });

  it('writes texts of one length', async () => {
    const raw = await rawOf('BYTES');
    expect(raw.length).toBe(COUNT * 20);
    expect(raw.readUInt32LE(20)).toBe(16);
    expect(raw.toString('latin1', 24, 40)).toMatch(/^[a-z0-9 ]{16}$/);
  });

  it('is the same in every run, another for every sample and every seed', async () => {
    const first = await rawOf('UINT8');
    expect(await rawOf('UINT8', { dataCount: 3 })).toEqual(first);
    expect(await rawOf('UINT8', {}, 1)).not.toEqual(first);
    expect(await rawOf('UINT8', { dataSeed: 2 })).not.toEqual(first);
    expect(first.subarray(0, 4).toString('hex')).toMatchInlineSnapshot(`"160b9a73"`);
  });

  it('says of itself that no accuracy means anything, and counts answers', async () => {
    const inputs = [input('FP32', [2]), { name: 'y', datatype: 'INT64', shape: [] } as OipTensor];
    const dataSet = await openTensorDataSet({ kind: 'random' }, inputs, { dataCount: 2 });
    expect(dataSet).toMatchObject({ totalSampleCount: 2, isUniform: true, folder: '' });
    expect(dataSet.marks?.join()).toMatch(/no accuracy of this run means anything/);
    expect((await dataSet.readPayload(1, 'raw')).length).toBe(2 * 4 + 8);
    const entries = [
      { sampleIndex: 0, response: Uint8Array.of(1) },
      { sampleIndex: 1, response: new Uint8Array() },
    ];
    expect(await dataSet.scoreAccuracy(entries)).toMatchObject({ metric: 'answered', value: 0.5 });
  });
});

describe('zeros', () => {
  it('is zeros; texts are empty', async () => {
    const inputs = [input('FP16', [3]), { ...input('BYTES', [2]), name: 'y' }];
    const dataSet = await openTensorDataSet({ kind: 'zeros' }, inputs);
    expect(dataSet.totalSampleCount).toBe(256);
    expect([...(await dataSet.readPayload(255, 'raw'))]).toEqual(new Array(6 + 8).fill(0));
  });
});

describe('--data', () => {
  it.each([
    ['random', { kind: 'random' }],
    ['npy:a:b', { kind: 'npy', folder: 'a:b' }],
    ['jsonl:/x/y.jsonl', { kind: 'jsonl', file: '/x/y.jsonl' }],
  ])('reads %s', (text, source) => {
    expect(parseDataSource(text)).toEqual(source);
  });

  it.each(['', 'Random', 'npy', 'npy:', 'csv:x'])('refuses "%s"', (text) => {
    expect(() => parseDataSource(text)).toThrow('must be random|zeros|npy:DIR|jsonl:FILE');
  });

  it.each([
    ['a free axis', 'random', input('FP32', [3, -1]), {}, '--input-shape x:3xN'],
    ['a sample of gigabytes', 'random', input('FP64', [2 ** 20, 2 ** 10]), {}, 'bytes'],
    ['a seed of zeros', 'zeros', input('FP32'), { dataSeed: 1 }, '--data-seed'],
    ['a count of files', 'npy:x', input('FP32'), { dataCount: 1 }, '--data-count'],
  ])('refuses %s', async (_case, text, one, options, message) => {
    const opened = openTensorDataSet(parseDataSource(text), [one], options);
    await expect(opened).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringContaining(message),
    });
  });
});
