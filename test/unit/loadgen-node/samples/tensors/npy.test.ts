import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTensorDataSet } from '../../../../../loadgen-node/samples/model-inputs/open-tensor-data-set.ts';
import {
  npyRemedy,
  parseNpyHeader,
} from '../../../../../loadgen-node/samples/tensors/npy/npy-header.ts';
import type { OipTensor } from '../../../../../shared/domain/tensors.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { readGolden } from '../../../../scenes/simulated-run/golden.ts';

// Goal: every array that NumPy writes is read as the protocol's raw contents, or refused in words.
// Method: files that NumPy itself wrote (test/golden/npy), in folders as a user has them.

interface GoldenArray {
  readonly name: string;
  readonly npy: string;
  readonly datatype?: OipTensor['datatype'];
  readonly shape?: readonly number[];
  readonly raw?: string;
}

const { arrays } = readGolden<{ arrays: readonly GoldenArray[] }>('npy/arrays.json');
const readable = arrays.filter(({ raw }) => raw !== undefined);

function fileOf(name: string): Buffer {
  return Buffer.from(arrays.find((array) => array.name === name)?.npy ?? '', 'base64');
}

function input(shape: readonly number[], datatype: OipTensor['datatype'] = 'FP32'): OipTensor {
  return { name: 'x', datatype, shape };
}

/** An array of one axis in a file of version 1.0. */
function floats(values: readonly number[]): Buffer {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${values.length},), }`;
  const head = Buffer.from(`\x93NUMPY\x01\x00..${text}\n`, 'latin1');
  head.writeUInt16LE(text.length + 1, 8);
  return Buffer.concat([head, Buffer.from(new Float32Array(values).buffer)]);
}

function folderWith(files: Readonly<Record<string, Uint8Array>>): string {
  const folder = tempFolder();
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  return folder;
}

async function openNpy(folder: string, inputs: readonly OipTensor[]) {
  return openTensorDataSet({ kind: 'npy', folder }, inputs);
}

describe('npy:DIR', () => {
  it.each(readable)('reads what NumPy wrote: $name', async ({ npy, datatype, shape, raw }) => {
    const folder = folderWith({ '0.npy': Buffer.from(npy, 'base64') });
    const wanted = input(
      (shape ?? []).map(() => -1),
      datatype,
    );
    const dataSet = await openNpy(folder, [wanted]);
    const [tensor] = await dataSet.sampleTensors(0);
    expect(tensor?.shape).toEqual(shape);
    expect(Buffer.from(tensor?.raw ?? []).toString('hex')).toBe(raw);
    expect(await dataSet.readPayload(0, 'raw')).toEqual(tensor?.raw);
  });

  it('reads an array without an element', async () => {
    const dataSet = await openNpy(folderWith({ '0.npy': fileOf('no element') }), [input([-1, 3])]);
    expect(await dataSet.sampleTensors(0)).toMatchObject([{ shape: [0, 3], raw: { length: 0 } }]);
  });

  it.each([
    ['pickled', /pickled Python objects.*convert it yourself, .*save it as np\.float32/],
    ['complex', /<c16.*no datatype/],
    ['records', /records of several fields/],
    ['datetime', /<M8\[D\]/],
    ['FP64 <', /<f8 \(FP64\); input x is FP32: save it as a\.astype\(np\.float32\)/],
  ])('refuses %s in words that name the file', async (name, message) => {
    const folder = folderWith({ '0.npy': fileOf(name) });
    const opened = openNpy(folder, [input([-1, -1])]);
    await expect(opened).rejects.toThrow(message);
    await expect(opened).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringContaining(join(folder, '0.npy')),
    });
  });

  it.each([
    ['no mark', Buffer.from('PK\x03\x04 a zip'), /NumPy's mark/],
    ['an empty file', Buffer.alloc(0), /NumPy's mark/],
    ['a version of later', Buffer.from('\x93NUMPY\x04\x00aaaa', 'latin1'), /version 4\.0/],
    ['half a header', floats([1, 2]).subarray(0, 40), /cut off/],
    ['half the elements', floats([1, 2]).subarray(0, -4), /has 4 bytes.*needs 8/],
    ['bytes behind the elements', Buffer.concat([floats([1, 2]), floats([3])]), /needs 8/],
    [
      'a header of nonsense',
      Buffer.from('\x93NUMPY\x01\x00\x02\x00{}', 'latin1'),
      /does not describe/,
    ],
  ])('refuses %s', async (_case, bytes, message) => {
    await expect(openNpy(folderWith({ 'a.npy': bytes }), [input([2])])).rejects.toThrow(message);
  });

  it('keeps to the header that it has read, whatever is in it', () => {
    const header = "{'shape': (2L, 3L), 'descr': '<i8', 'fortran_order': True}";
    const bytes = Buffer.from(`\x93NUMPY\x01\x00..${header}`, 'latin1');
    bytes.writeUInt16LE(header.length, 8);
    expect(parseNpyHeader(bytes, 'x')).toEqual({
      descr: '<i8',
      isFortranOrder: true,
      shape: [2, 3],
      dataOffset: bytes.length,
    });
    const hostile = bytes.toString('latin1').replace("'<i8'", '__imp');
    expect(() => parseNpyHeader(Buffer.from(hostile, 'latin1'), 'x')).toThrow(/does not describe/);
  });

  it('takes files by name, leaves others out, and a batch axis of one away', async () => {
    const folder = folderWith({
      '10.npy': floats([10]),
      '2.npy': floats([2]),
      'notes.txt': Buffer.from('x'),
      '.hidden.npy': Buffer.from('x'),
    });
    const dataSet = await openNpy(folder, [input([])]);
    expect(dataSet.files).toEqual(['10.npy', '2.npy']);
    expect(dataSet.totalSampleCount).toBe(2);
    expect(dataSet.isUniform).toBe(true);
    const [tensor] = await dataSet.sampleTensors(0);
    expect(tensor).toMatchObject({ name: 'x', datatype: 'FP32', shape: [] });
    expect(new Float32Array(Uint8Array.from(tensor?.raw ?? []).buffer)).toEqual(
      new Float32Array([10]),
    );
  });

  it('tells lengths that differ, and one that the model does not have', async () => {
    const folder = folderWith({ 'a.npy': floats([1]), 'b.npy': floats([1, 2]) });
    expect((await openNpy(folder, [input([-1])])).isUniform).toBe(false);
    await expect(openNpy(folder, [input([2])])).rejects.toThrow(
      `${join(folder, 'a.npy')}: has the shape [1]; a sample of input x has [2]`,
    );
  });

  it('says how an array of many samples becomes files', async () => {
    const folder = folderWith({ 'all.npy': fileOf('FP32 <') });
    await expect(openNpy(folder, [input([3])])).rejects.toThrow(/each of the 2 as its own file/);
  });

  it('says which input has no files', async () => {
    const folder = folderWith({ 'x/a.npy': floats([1]) });
    const inputs = [input([1]), { ...input([1]), name: 'y' }];
    await expect(openNpy(folder, inputs)).rejects.toThrow(
      new RegExp(`; there are none in ${join(folder, 'y')}$`),
    );
  });

  it('joins inputs by the names of their files', async () => {
    const inputs = [input([1]), { ...input([2]), name: 'part/y' }];
    const folder = folderWith({
      'x/0.npy': floats([1]),
      'x/1.npy': floats([2]),
      'part/y/0.npy': floats([3, 4]),
      'part/y/1.npy': floats([5, 6]),
    });
    const dataSet = await openNpy(folder, inputs);
    expect(dataSet.files).toEqual(['x/0.npy', 'x/1.npy', 'part/y/0.npy', 'part/y/1.npy']);
    const payload = Uint8Array.from(await dataSet.readPayload(1, 'raw'));
    expect([...new Float32Array(payload.buffer)]).toEqual([2, 5, 6]);
  });

  it.each([
    [
      'a file of one input only',
      { 'x/0.npy': floats([1]), 'x/1.npy': floats([1]), 'y/1.npy': floats([1]) },
      /y has no 0\.npy/,
    ],
    ['no folder of an input', { 'x/0.npy': floats([1]) }, /y\/\*\.npy/],
  ])('refuses %s', async (_case, files, message) => {
    const inputs = [input([1]), { ...input([1]), name: 'y' }];
    await expect(openNpy(folderWith(files), inputs)).rejects.toThrow(message);
  });

  it('follows no name of an input out of the folder', async () => {
    const folder = folderWith({ 'in/x/0.npy': floats([1]), 'y/0.npy': floats([1]) });
    const inputs = [input([1]), { ...input([1]), name: '../y' }];
    await expect(openNpy(join(folder, 'in'), inputs)).rejects.toThrow(/no folder can have/);
  });

  it('names a file that was changed after it was checked', async () => {
    const folder = folderWith({ 'a.npy': floats([1]) });
    const dataSet = await openNpy(folder, [input([1])]);
    writeFileSync(join(folder, 'a.npy'), floats([1, 2]));
    await expect(dataSet.readPayload(0, 'raw')).rejects.toThrow(/a\.npy: has the shape \[2\]/);
  });
});

it('a cast is advised only where it keeps the values', () => {
  expect(npyRemedy('FP32', 'FP64')).toBe('save it as a.astype(np.float32)');
  for (const [to, from] of [
    ['UINT8', 'FP64'],
    ['FP32', 'UINT8'],
    ['FP16', 'FP32'],
  ] as const) {
    expect(npyRemedy(to, from)).toMatch(/^convert it yourself, .* as np\.(uint8|float\d\d)$/);
  }
});
