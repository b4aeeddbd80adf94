import { readdirSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import type { DataSet } from '../../../../../loadgen-node/samples/data-set/data-set.ts';
import { SampleStore } from '../../../../../loadgen-node/samples/qsl/sample-store.ts';
import { codecNamed } from '../../../../../shared/compression/codec.ts';
import { sha256Words } from '../../../../../shared/evidence/payload-digest.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

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

  it('lets the event loop turn while it loads, and ends with the signal', async () => {
    const controller = new AbortController();
    const dataSet = new CountingDataSet();
    const readPayload = dataSet.readPayload.bind(dataSet);
    dataSet.readPayload = (index, form) => {
      // As digesting a large sample does.
      const untilMs = performance.now() + 60;
      while (performance.now() < untilMs);
      return readPayload(index, form);
    };
    const encoding = { form: 'raw', compression: 'identity' };
    const { signal } = controller;
    const qsl = new SampleStore(dataSet, { encoding, performanceSampleCount: 10, signal });
    const loading = qsl.loadSamplesToRam(Uint32Array.from({ length: 10 }, (_, i) => i));
    setImmediate(() => controller.abort(new Error('enough')));
    await expect(loading).rejects.toThrow('enough');
    expect(dataSet.reads.length).toBeLessThan(10);
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

describe('SampleStore with a file', () => {
  const options = { encoding: { form: 'raw', compression: 'lz4' }, performanceSampleCount: 4 };
  const inFile = (more: Partial<ConstructorParameters<typeof SampleStore>[1]> = {}) =>
    new SampleStore(new CountingDataSet(), { ...options, fileFolder: tempFolder(), ...more });

  it('gives the payloads that it would give from memory, as often as they are asked for', async () => {
    const fileFolder = tempFolder();
    const [kept, read] = [inFile({ fileFolder: undefined }), inFile({ fileFolder })];
    const indices = Uint32Array.of(7, 2, 7, 9);
    await Promise.all([kept, read].map((store) => store.loadSamplesToRam(indices)));
    expect(readdirSync(fileFolder)).toEqual([]);
    for (const index of [2, 9, 7, 2]) {
      expect([...read.payloadOf(index)]).toEqual([...kept.payloadOf(index)]);
    }
    expect(() => read.payloadOf(1)).toThrow();
    await read.unloadSamplesFromRam(indices);
    expect(() => read.payloadOf(7)).toThrow();
    await read.loadSamplesToRam(Uint32Array.of(7));
    expect([...read.payloadOf(7)]).toEqual([...kept.payloadOf(7)]);
  });

  it('keeps digests, and prepares queries as a whole', async () => {
    const store = inFile({ compressionScope: 'query', isDigested: true });
    await store.loadSamplesToRam(Uint32Array.of(3));
    expect(store.preparedQueryPayload?.(3)).toEqual({
      payload: store.payloadOf(3),
      sampleBytes: [103],
    });
    expect(store.digestOf?.(3)).toEqual(sha256Words([store.payloadOf(3)]));
  });

  it('reads again what it has read long ago', async () => {
    const large = new CountingDataSet();
    large.readPayload = async (index) => new Uint8Array(9e6).fill(index);
    const encoding = { form: 'raw', compression: 'identity' };
    const store = new SampleStore(large, { ...options, encoding, fileFolder: tempFolder() });
    await store.loadSamplesToRam(Uint32Array.of(0, 1, 2, 3, 4));
    const first = store.payloadOf(0);
    for (const index of [1, 2, 3, 4]) expect(store.payloadOf(index)[0]).toBe(index);
    const last = store.payloadOf(4);
    expect(store.payloadOf(4) === last).toBe(true);
    // Compared as bytes: millions of elements one by one take minutes.
    const again = store.payloadOf(0);
    expect(again === first).toBe(false);
    expect(Buffer.compare(again, first)).toBe(0);
  });
});

describe('requireRoom', () => {
  async function roomOf(bytes: number | undefined, options = {}) {
    const dataSet: DataSet = new CountingDataSet();
    const sized =
      bytes === undefined ? dataSet : Object.assign(dataSet, { payloadBytes: () => bytes });
    const encoding = { form: 'raw', compression: 'identity' };
    const said: string[] = [];
    const store = new SampleStore(sized, { encoding, performanceSampleCount: 4, ...options });
    const error = await store
      .requireRoom((text) => said.push(text))
      .catch((thrown: unknown) => thrown);
    return { said, error };
  }

  it('is silent about small sets and those of unknown size', async () => {
    expect(await roomOf(undefined)).toEqual({ said: [], error: undefined });
    expect(await roomOf(1e6)).toEqual({ said: [], error: undefined });
  });

  it('tells how much memory a large set takes, behind its compression', async () => {
    const room = vi.spyOn(process, 'availableMemory').mockReturnValue(9e9);
    expect((await roomOf(2e9)).said).toEqual([
      expect.stringMatching(
        /^4 loaded samples take 8\.0 GB of memory; 9\.0 GB are free of (?:this machine's|the) [\d.]+ GB/,
      ),
    ]);
    // 109 bytes at most become some 20 by lz4.
    const lz4 = await roomOf(5e9, { encoding: { form: 'raw', compression: 'lz4' } });
    expect(lz4.said[0]).toMatch(/take [2-6]\.\d GB/);
    room.mockRestore();
  });

  it('refuses what does not fit, before anything is loaded', async () => {
    const room = vi.spyOn(process, 'availableMemory').mockReturnValue(3e9);
    const code = 'ERR_CONFIG_INVALID';
    const text =
      /take 8\.0 GB of memory; 3\.0 GB are free of .*: use --sample-store file, or a machine with more$/;
    const { error } = await roomOf(2e9);
    expect(error).toMatchObject({ code, message: expect.stringMatching(text) });
    room.mockRestore();
    const fileFolder = tempFolder();
    const message = expect.stringMatching(/in a file in .*: name another folder by --cache-dir/);
    expect((await roomOf(1e15, { fileFolder })).error).toMatchObject({ code, message });
  });
});
