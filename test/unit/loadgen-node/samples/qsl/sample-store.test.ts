import { describe, expect, it, vi } from 'vitest';
import type { DataSet } from '../../../../../loadgen-node/samples/data-set/data-set.ts';
import { SampleStore } from '../../../../../loadgen-node/samples/qsl/sample-store.ts';
import { codecNamed } from '../../../../../shared/compression/codec.ts';
import { sha256Words } from '../../../../../shared/evidence/payload-digest.ts';

// Goal: a payload is read and compressed once, when it is loaded, and goes out as it is kept.
// Method: a data set that counts its reads.

class CountingDataSet implements DataSet {
  readonly name = 'counting';
  readonly folder = '';
  readonly totalSampleCount = 10;
  readonly reads: number[] = [];

  async readPayload(index: number, form: string): Promise<Uint8Array> {
    this.reads.push(index);
    return new Uint8Array(100 + index).fill(form === 'raw' ? index : 0);
  }

  scoreAccuracy(): never {
    throw new Error('no accuracy here');
  }
}

function store(compression: string, compressionScope?: 'sample' | 'query') {
  const dataSet = new CountingDataSet();
  const encoding = { form: 'raw', compression };
  const options = { encoding, performanceSampleCount: 4 };
  return {
    dataSet,
    qsl: new SampleStore(
      dataSet,
      compressionScope === undefined ? options : { ...options, compressionScope },
    ),
  };
}

describe('SampleStore', () => {
  it('keeps the payload as the data set gave it where nothing is compressed', async () => {
    const { qsl } = store('identity');
    await qsl.loadSamplesToRam(Uint32Array.of(3));
    expect([...qsl.payloadOf(3)]).toEqual(Array(103).fill(3));
    expect(qsl.preparedQueryPayload).toBeUndefined();
  });

  it('compresses a sample once, when it is loaded, and keeps that', async () => {
    const { qsl, dataSet } = store('lz4');
    const compress = vi.spyOn(codecNamed('lz4'), 'compress');
    await qsl.loadSamplesToRam(Uint32Array.of(3, 5, 3));
    expect(compress).toHaveBeenCalledTimes(2);
    const payload = qsl.payloadOf(3);
    expect(qsl.payloadOf(3)).toBe(payload);
    expect(payload.length).toBeLessThan(103);
    expect([...codecNamed('lz4').decompress(payload, 103)]).toEqual(Array(103).fill(3));
    await qsl.loadSamplesToRam(Uint32Array.of(3));
    expect(qsl.payloadOf(3)).toBe(payload);
    expect(new Set(dataSet.reads)).toEqual(new Set([3, 5]));
  });

  it('digests what it keeps, if it is asked to', async () => {
    const options = { encoding: { form: 'raw', compression: 'lz4' }, performanceSampleCount: 4 };
    const qsl = new SampleStore(new CountingDataSet(), { ...options, isDigested: true });
    await qsl.loadSamplesToRam(Uint32Array.of(3, 5));
    expect(qsl.digestOf?.(5)).toEqual(sha256Words([qsl.payloadOf(5)]));
    await qsl.unloadSamplesFromRam(Uint32Array.of(3, 5));
    expect(() => qsl.digestOf?.(5)).toThrow();
    expect(store('lz4').qsl.digestOf).toBeUndefined();
  });

  it('forgets what is unloaded', async () => {
    const { qsl } = store('gzip', 'query');
    await qsl.loadSamplesToRam(Uint32Array.of(1));
    await qsl.unloadSamplesFromRam(Uint32Array.of(1));
    expect(() => qsl.payloadOf(1)).toThrow();
    expect(() => qsl.preparedQueryPayload?.(1)).toThrow();
  });

  it('prepares the query of each sample as a whole, with its length before compression', async () => {
    const { qsl } = store('lz4', 'query');
    await qsl.loadSamplesToRam(Uint32Array.of(7));
    const prepared = qsl.preparedQueryPayload?.(7);
    expect(prepared?.sampleBytes).toEqual([107]);
    expect(prepared?.payload).toBe(qsl.payloadOf(7));
    expect(qsl.preparedQueryPayload?.(7)).toBe(prepared);
  });
});
