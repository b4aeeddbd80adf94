import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTensorDataSet } from '../../../../../loadgen-node/samples/model-inputs/open-tensor-data-set.ts';
import { toSmallFloat } from '../../../../../loadgen-node/samples/tensors/small-float.ts';
import type { OipTensor } from '../../../../../shared/domain/tensors.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { readGolden } from '../../../../scenes/simulated-run/golden.ts';

// Goal: a line of JSON becomes exactly the elements that it says, or is refused by file and line.
// Method: lines in a file, and what the data set makes of them; FP16 against NumPy's own rounding.

function fileWith(text: string): string {
  const file = join(tempFolder(), 'samples.jsonl');
  writeFileSync(file, text);
  return file;
}

function tensor(
  name: string,
  datatype: OipTensor['datatype'],
  shape: readonly number[],
): OipTensor {
  return { name, datatype, shape };
}

async function read(text: string, ...inputs: OipTensor[]) {
  const dataSet = await openTensorDataSet({ kind: 'jsonl', file: fileWith(text) }, inputs);
  return dataSet.sampleTensors(0);
}

const PAIR = [tensor('ids', 'INT64', [-1]), tensor('image', 'UINT8', [2, 2])] as const;

describe('jsonl:FILE', () => {
  it('reads the form of the REST protocol, batch axis and all', async () => {
    const line = JSON.stringify({
      id: '7',
      inputs: [
        { name: 'image', datatype: 'UINT8', shape: [1, 2, 2], data: [1, 2, 3, 255] },
        { name: 'ids', datatype: 'INT64', shape: [1, 3], data: [[5, 6, 7]] },
      ],
    });
    const [ids, image] = await read(line, ...PAIR);
    expect(ids?.shape).toEqual([3]);
    expect(Buffer.from(ids?.raw ?? []).readBigInt64LE(16)).toBe(7n);
    expect(image).toEqual({
      name: 'image',
      datatype: 'UINT8',
      shape: [2, 2],
      raw: Uint8Array.of(1, 2, 3, 255),
    });
  });

  it.each([
    ['nested arrays', '{"ids":[1],"image":[[1,2],[3,4]]}'],
    ['a batch of one', '{"ids":[[1]],"image":[[[1,2],[3,4]]]}'],
    ['elements in a row, where the model has the shape', '{"ids":[1],"image":[1,2,3,4]}'],
    ['raw contents', '{"ids":{"b64":"AQAAAAAAAAA="},"image":{"b64":"AQIDBA"}}'],
    ['raw contents with their shape', '{"ids":[1],"image":{"b64":"AQIDBA==","shape":[2,2]}}'],
  ])('reads the short form: %s', async (_case, line) => {
    const [ids, image] = await read(`\uFEFF${line}\r\n`, ...PAIR);
    expect([...(ids?.raw ?? [])]).toEqual([1, 0, 0, 0, 0, 0, 0, 0]);
    expect(image?.shape).toEqual([2, 2]);
    expect([...(image?.raw ?? [])]).toEqual([1, 2, 3, 4]);
  });

  it.each([
    '{"past":[],"image":[1,2,3,4]}',
    '{"inputs":[{"name":"past","shape":[1,0],"data":[]},{"name":"image","data":[1,2,3,4]}]}',
    '{"past":{"b64":"","shape":[0]},"image":[1,2,3,4]}',
  ])('reads an axis of length 0: %s', async (line) => {
    for (const axis of [0, -1]) {
      const [past] = await read(line, tensor('past', 'FP32', [axis]), PAIR[1]);
      expect(past).toMatchObject({ shape: [0], raw: { length: 0 } });
    }
  });

  it.each([
    '{"ids":[1,2,3]}',
    '{"ids":[[1,2,3]]}',
    '{"inputs":[{"name":"ids","shape":[3],"data":[1,2,3]}]}',
  ])('says behind another shape what is known of the axes: %s', async (line) => {
    const wanted = { ...tensor('ids', 'INT64', []), shapeHint: '; a hint' };
    await expect(read(line, wanted)).rejects.toThrow(/; a hint$/);
  });

  it('holds all 64 bits of whole numbers, written as numbers or as texts', async () => {
    const line = '{"x":[9223372036854775807,-9223372036854775808,"9007199254740993",0]}';
    const [x] = await read(line, tensor('x', 'INT64', [4]));
    const raw = Buffer.from(x?.raw ?? []);
    expect([0, 8, 16].map((at) => raw.readBigInt64LE(at))).toEqual([
      2n ** 63n - 1n,
      -(2n ** 63n),
      2n ** 53n + 1n,
    ]);
    const [y] = await read('{"y":[18446744073709551615]}', tensor('y', 'UINT64', [1]));
    expect(Buffer.from(y?.raw ?? []).readBigUInt64LE()).toBe(2n ** 64n - 1n);
  });

  it('leaves digits within texts, fractions and long floats as they are', async () => {
    const line =
      '{"t":["1234567890123456","a\\"1234567890123456"],"f":[0.12345678901234566, 1234567890123456789]}';
    const [t, f] = await read(line, tensor('t', 'BYTES', [2]), tensor('f', 'FP64', [2]));
    expect(Buffer.from(t?.raw ?? []).toString('latin1')).toBe(
      '\x10\0\0\x001234567890123456\x12\0\0\0a"1234567890123456',
    );
    const floats = new Float64Array(Uint8Array.from(f?.raw ?? []).buffer);
    expect([...floats]).toEqual([0.12345678901234566, 1234567890123456800]);
  });

  it('reads BYTES as UTF-8 or base64, and bytes of a whole file as one element', async () => {
    const [x] = await read('{"x":["ä",{"b64":"/9g="},""]}', tensor('x', 'BYTES', [3]));
    expect(Buffer.from(x?.raw ?? []).toString('hex')).toBe('02000000c3a402000000ffd800000000');
    const [image] = await read('{"x":{"b64":"/9g="}}', tensor('x', 'BYTES', [1]));
    expect(image).toMatchObject({ shape: [1], raw: Buffer.from('02000000ffd8', 'hex') });
  });

  it('has every special number of floats, and rounds as NumPy does', async () => {
    const [x] = await read('{"x":["NaN","-Infinity",-0.0,0.1]}', tensor('x', 'FP32', [4]));
    const floats = new Float32Array(Uint8Array.from(x?.raw ?? []).buffer);
    expect([...floats]).toEqual([Number.NaN, Number.NEGATIVE_INFINITY, -0, Math.fround(0.1)]);
    const { halves } = readGolden<{ halves: readonly [string, number][] }>('npy/arrays.json');
    expect(halves.map(([value]) => toSmallFloat(Number(value), 'FP16'))).toEqual(
      halves.map(([, bits]) => bits),
    );
    expect(toSmallFloat(65_520, 'FP16')).toBeUndefined();
    // BF16 is the upper half of FP32: 1 + 2^-8 lies between two and goes to the even one.
    expect([1, 1 + 2 ** -8, 1 + 3 * 2 ** -8, -2, 3e38].map((v) => toSmallFloat(v, 'BF16'))).toEqual(
      [0x3f80, 0x3f80, 0x3f82, 0xc000, 0x7f62],
    );
    expect(toSmallFloat(3.4e38, 'BF16')).toBeUndefined();
  });

  it.each([
    ['no JSON', '{"ids":[1],', /:1: is not JSON/],
    ['no object', '[1]', /must be an object/],
    ['an input that is not there', '{"ids":[1]}', /has no input "image"/],
    [
      'an unknown input',
      '{"ids":[1],"image":[1,2,3,4],"mask":[1]}',
      /"mask" is not an input.*ids, image/,
    ],
    [
      'another datatype',
      '{"inputs":[{"name":"ids","datatype":"INT32","shape":[1],"data":[1]}]}',
      /"INT32" here; the model has INT64/,
    ],
    [
      'too few elements',
      '{"ids":[1],"image":[1,2,3]}',
      /"image": has 3 elements in a row; a sample of the model, \[2, 2\], needs 4/,
    ],
    [
      'a shape that its data does not fill',
      '{"inputs":[{"name":"ids","shape":[3],"data":[1]},{"name":"image","data":[1,2,3,4]}]}',
      /1 elements; its shape \[3\] needs 3/,
    ],
    ['arrays of different lengths', '{"ids":[1],"image":[[1,2],[3]]}', /different lengths/],
    [
      'a number too large',
      '{"ids":[1],"image":[1,2,300,4]}',
      /element 2 is 300; UINT8 goes from 0 to 255/,
    ],
    [
      'a number beyond 64 bits',
      '{"ids":[9223372036854775808],"image":[1,2,3,4]}',
      /9223372036854775808; INT64 goes/,
    ],
    ['a fraction', '{"ids":[1.5],"image":[1,2,3,4]}', /1\.5; INT64 is a whole number/],
    ['a whole number that is rounded', '{"ids":[1e20],"image":[1,2,3,4]}', /written in full/],
    ['a text for a number', '{"ids":["one"],"image":[1,2,3,4]}', /element 0 is "one"/],
    ['null', '{"ids":[null],"image":[1,2,3,4]}', /element 0 is null/],
    ['an object for a number', '{"ids":[{"":1}],"image":[1,2,3,4]}', /whole number/],
    ['no base64', '{"ids":[1],"image":{"b64":"A*=="}}', /not base64/],
    [
      'half an element',
      '{"ids":{"b64":"AQID"},"image":[1,2,3,4]}',
      /3 bytes, which no number of INT64/,
    ],
    [
      'an empty tensor',
      '{"ids":[1],"image":[]}',
      /has 0 elements in a row; a sample of the model, .*, needs 4/,
    ],
    [
      'parameters, which are not sent',
      '{"parameters":{"a":1},"inputs":[{"name":"ids","data":[1]}]}',
      /"parameters" of the sample would be ignored/,
    ],
    ['an input twice', '{"inputs":[{"name":"ids","data":[1]},{"name":"ids","data":[1]}]}', /twice/],
  ])('refuses %s', async (_case, line, message) => {
    const sample = read(line, ...PAIR);
    await expect(sample).rejects.toThrow(message);
    await expect(sample).rejects.toMatchObject({ code: 'ERR_DATA_SET' });
  });

  it('counts lines as editors do, and blank ones are no samples', async () => {
    const file = fileWith('{"x":[1]}\n\n  \r\n{"x":[2,3]}\n{"x":true}');
    const source = { kind: 'jsonl', file } as const;
    await expect(openTensorDataSet(source, [tensor('x', 'INT8', [-1])])).rejects.toThrow(
      `${file}:5: input "x"`,
    );
    writeFileSync(file, '{"x":[1]}\n\n{"x":[2,3]}');
    const dataSet = await openTensorDataSet(source, [tensor('x', 'INT8', [-1])]);
    expect(dataSet).toMatchObject({
      name: 'samples.jsonl',
      files: ['samples.jsonl'],
      totalSampleCount: 2,
      isUniform: false,
    });
    expect([...(await dataSet.readPayload(1, 'raw'))]).toEqual([2, 3]);
  });

  it('reads lines that are longer than one read', async () => {
    const long = 'a1234567890123456'.repeat(100_000);
    const [, last] = await Promise.all(
      [0, 1].map(async (i) => {
        const file = fileWith(`{"x":["${long}"]}\n{"x":["${long}b"]}\n`);
        const dataSet = await openTensorDataSet({ kind: 'jsonl', file }, [
          tensor('x', 'BYTES', [1]),
        ]);
        return dataSet.readPayload(i, 'raw');
      }),
    );
    expect(last?.length).toBe(4 + long.length + 1);
    expect(Buffer.from(last ?? []).toString('latin1', 4)).toBe(`${long}b`);
  });

  it.each([
    ['a file that is not there', undefined, /no such file/],
    ['an empty file', '\n', /no lines/],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), /:1: is not UTF-8/],
  ])('refuses %s', async (_case, text, message) => {
    const file = fileWith('');
    if (text !== undefined) writeFileSync(file, text);
    const source = { kind: 'jsonl', file: text === undefined ? `${file}.not` : file } as const;
    await expect(openTensorDataSet(source, [tensor('x', 'INT8', [1])])).rejects.toThrow(message);
  });
});
