import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DataSet } from '../../../../../loadgen-node/samples/data-set/data-set.ts';
import {
  type WireForm,
  wireDataSet,
} from '../../../../../loadgen-node/samples/data-set/wire-data-set.ts';
import {
  benchmarkTensors,
  fileTensors,
} from '../../../../../loadgen-node/samples/model-inputs/sample-tensors.ts';
import { wirePayload } from '../../../../../qdl/protocols/oip/prepare/wire-payload.ts';
import type { OipTensor } from '../../../../../shared/domain/tensors.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

const payload = Uint8Array.of(1, 2, 3, 4, 5, 6);
const responses: Uint8Array[] = [];
const dataSet: DataSet = {
  name: 'six',
  totalSampleCount: 1,
  folder: '/data',
  files: ['six.bin'],
  marks: ['six bytes'],
  readPayload: async () => payload,
  scoreAccuracy: async (entries) => {
    for await (const { response } of entries) responses.push(response);
    return { metric: 'top-1', value: 1, correctCount: 1, sampleCount: 1 };
  },
};
const tensor = (datatype: OipTensor['datatype'], shape: readonly number[]): OipTensor => ({
  name: `${datatype}`,
  datatype,
  shape,
});
const plain = (sampleBytes: number): WireForm => {
  const plan = {
    payloadForm: 'tensors' as const,
    hasBatchAxis: true,
    inputs: [{ name: 'x', datatype: 'UINT8' as const, sampleShape: [sampleBytes], sampleBytes }],
  };
  const tensors = benchmarkTensors(dataSet, tensor('UINT8', [sampleBytes]));
  return {
    tensors: (index) => tensors(index, 'raw'),
    payloadOf: (index, of) => wirePayload(index, of, { plan, contents: 'raw' }),
    responseTensor: undefined,
  };
};

describe('wireDataSet', () => {
  it('sends payloads as they are, and keeps files and marks', async () => {
    const wire = wireDataSet(dataSet, plain(6));
    expect(await wire.readPayload(0, 'raw')).toBe(payload);
    expect(wire).toMatchObject({ name: 'six', files: ['six.bin'], marks: ['six bytes'] });
    expect(wire).not.toHaveProperty('quality');
  });

  it('refuses a sample whose length is not that of the plan', async () => {
    await expect(wireDataSet(dataSet, plain(7)).readPayload(0, 'raw')).rejects.toThrow(
      'sample 0 has 6 bytes for input "x" of the model; 7 are needed',
    );
  });

  it.each([
    ['scores', 'FP32', new Uint8Array(Float32Array.of(0, 0.2, 0.9, 0.1).buffer), 0, 2],
    ['scores', 'FP64', new Uint8Array(Float64Array.of(0, 0.2, 0.9, 0.9).buffer), -1, 1],
    ['class', 'INT64', new Uint8Array(BigInt64Array.of(7n).buffer), 0, 7],
    ['class', 'UINT16', new Uint8Array(Uint16Array.of(7).buffer), -1, 6],
  ] as const)(
    'reads %s of %s as the class of the benchmark',
    async (form, datatype, response, classOffset, label) => {
      const output = { name: 'out', datatype, shape: [-1] };
      const wire = wireDataSet(dataSet, {
        ...plain(6),
        responseClass: { output, form, classOffset },
        responseTensor: { datatype: 'INT32', shape: [1] },
      });
      await wire.scoreAccuracy([{ sampleIndex: 0, response }]);
      expect(responses.pop()).toEqual(new Uint8Array(Int32Array.of(label).buffer));
    },
  );

  it('names the sample whose response is none', async () => {
    const output = { name: 'out', datatype: 'FP32', shape: [-1, 10] } as const;
    const wire = wireDataSet(dataSet, {
      ...plain(6),
      responseClass: { output, form: 'scores', classOffset: 0 },
      responseTensor: { datatype: 'INT32', shape: [1] },
    });
    const score = (response: Uint8Array) => wire.scoreAccuracy([{ sampleIndex: 0, response }]);
    await expect(score(new Uint8Array(5))).rejects.toThrow(
      /^sample 0: a response has 5 bytes of output "out"/,
    );
    const nan = new Uint8Array(Float32Array.of(0, Number.NaN).buffer);
    await expect(score(nan)).rejects.toThrow('sample 0: score 1 of a response is not a number');
  });
});

/** A folder of these files, each with the payload. */
function folderOf(...names: readonly string[]): string {
  const folder = tempFolder();
  for (const name of names) writeFileSync(join(folder, name), payload);
  return folder;
}

describe('benchmarkTensors', () => {
  it.each([
    ['UINT8', [-1], [6]],
    ['FP16', [-1, 1], [3, 1]],
    ['UINT8', [3, -1], [3, 2]],
    ['UINT8', [2, 3], [2, 3]],
  ] as const)(
    'takes the length of the free axis from the payload: %s %j',
    async (type, shape, own) => {
      const [sample] = await benchmarkTensors(dataSet, tensor(type, [...shape]))(0, 'raw');
      expect(sample).toMatchObject({ shape: own, raw: payload });
    },
  );
});

describe('fileTensors', () => {
  it('cuts a file into the inputs', async () => {
    const inputs = [tensor('INT16', [2]), tensor('BOOL', [2])];
    const cut = await fileTensors({ ...dataSet, folder: folderOf('six.bin') }, inputs);
    expect((await cut(0, 'raw')).map(({ raw }) => [...raw])).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ]);
  });

  it('takes a file as the one element of a model of texts', async () => {
    const cut = await fileTensors(dataSet, [tensor('BYTES', [1])]);
    const [input] = await cut(0, 'raw');
    expect([...(input?.raw ?? [])]).toEqual([6, 0, 0, 0, ...payload]);
  });

  it('names the first file that has another length before it reads any', async () => {
    const files = ['a.npy', 'b.npy', 'six.bin'];
    const folder = folderOf(...files);
    writeFileSync(join(folder, 'a.npy'), new Uint8Array(8));
    const open = fileTensors({ ...dataSet, folder, files }, [tensor('FP32', [2])]);
    await expect(open).rejects.toThrow(
      `${join(folder, 'b.npy')} has 6 bytes; the inputs of the model (FP32 FP32 [2]) have 8; NumPy's arrays are read by --data npy:FOLDER`,
    );
  });

  it('names a file that has become shorter since', async () => {
    const folder = folderOf('six.bin');
    writeFileSync(join(folder, 'six.bin'), new Uint8Array(8));
    const cut = await fileTensors({ ...dataSet, folder }, [tensor('FP32', [2])]);
    await expect(cut(0, 'raw')).rejects.toThrow(`${join(folder, 'six.bin')} has 6 bytes`);
  });

  it('refuses texts of several inputs, and axes of unknown length', async () => {
    const two = [tensor('BYTES', [1]), tensor('FP32', [2])];
    await expect(fileTensors(dataSet, two)).rejects.toThrow(/--data jsonl:FILE takes texts/);
    const free = fileTensors(dataSet, [tensor('FP32', [-1])]);
    await expect(free).rejects.toThrow(/--input-shape FP32:N/);
  });
});
