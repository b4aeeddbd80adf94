import { createHash } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NO_TENSOR } from '../../../../../sut-node/model/model-facts.ts';
import { GraphBuilder } from '../../../../../sut-node/model/onnx/graph-builder.ts';
import {
  createOrtSession,
  sessionOptions,
} from '../../../../../sut-node/model/onnx/ort-session.ts';
import type { RuntimeSettings } from '../../../../../sut-node/settings/model-settings.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';
import { ODD_MODELS } from '../../../../scenes/sut-node/odd-models.ts';
import { otherModel, TEST_SETTINGS } from '../../../../scenes/sut-node/sut-node.ts';

// Goal: what is loaded is the file that was told, on the providers that were requested, or nothing
// is loaded and the message says what to do. Method: real ONNX Runtime, a small model.

const MODEL = otherModel();
const ALL_CHANGED: RuntimeSettings = {
  providers: ['cpu'],
  threadsPerWorker: 2,
  interThreads: 2,
  executionMode: 'parallel',
  spinning: 'on',
  graphLevel: 'disabled',
  memoryArena: 'off',
  memoryPattern: 'off',
};

async function create(bytes: Uint8Array, runtime: RuntimeSettings = TEST_SETTINGS, told = bytes) {
  const { modelFile } = await fileOf(bytes);
  const sha256 = createHash('sha256').update(told).digest('hex');
  return createOrtSession({ modelFile, sha256, runtime });
}

async function fileOf(bytes: Uint8Array) {
  const modelFile = join(tempFolder(), 'mine.onnx');
  await writeFile(modelFile, bytes);
  return { modelFile, sha256: createHash('sha256').update(bytes).digest('hex') };
}

describe('createOrtSession of a model of several files', () => {
  it('names the tensors by the part, and runs one part at a time', async () => {
    const file = await fileOf(MODEL);
    const { tensors, run } = await createOrtSession({
      ...{ modelFile: 'two.yaml', sha256: '', runtime: TEST_SETTINGS },
      parts: { first: file, second: file },
    });
    expect(tensors.inputs.map(({ name }) => name)).toEqual(['first/pixels', 'second/pixels']);
    const data = Float32Array.of(-1, 2, -3, 4);
    const input = { name: 'second/pixels', elementType: 'float', data, dims: [1, 4] };
    const outputs = await run([input], ['second/absolute']);
    expect(outputs.get('second/absolute')?.data).toEqual(data.map(Math.abs));
    await expect(run([input], ['first/absolute'])).rejects.toThrow('second/pixels');
  });

  it('refuses a part that is not the one that was told', async () => {
    const file = { ...(await fileOf(MODEL)), sha256: 'another' };
    const options = { modelFile: 'two.yaml', sha256: '', runtime: TEST_SETTINGS };
    await expect(createOrtSession({ ...options, parts: { first: file } })).rejects.toMatchObject({
      code: 'ERR_MODEL',
    });
  });
});

describe('createOrtSession', () => {
  it.each([
    ['by default', TEST_SETTINGS],
    ['with every option changed', ALL_CHANGED],
  ])('tells what the model has, and runs it, %s', async (_case, runtime) => {
    const { tensors, run } = await create(MODEL, runtime);
    expect(tensors).toEqual({
      inputs: [{ name: 'pixels', elementType: 'float', shape: [-1, 4] }],
      outputs: [{ name: 'absolute', elementType: 'float', shape: [-1, 4] }],
    });
    const data = Float32Array.of(-1, 2, -3, 4);
    const input = { name: 'pixels', elementType: 'float', data, dims: [1, 4] };
    const outputs = await run([input], ['absolute']);
    expect(outputs.get('absolute')).toEqual({ data: data.map(Math.abs), dims: [1, 4] });
  });

  it('tells an axis of length 0 apart from a free one, and no shape from a single number', async () => {
    const past = await create(ODD_MODELS.past());
    expect(past.tensors.inputs.map(({ shape }) => shape)).toEqual([
      [-1, 0],
      [-1, 4],
    ]);
    const noRank = await create(ODD_MODELS.noRank());
    const [x, y] = ['x', 'y'].map((name) => ({ name, elementType: 'float', shape: [] }));
    expect(noRank.tensors).toEqual({
      inputs: [{ ...x, isRankUnknown: true }],
      outputs: [{ ...y, isRankUnknown: true }],
    });
    const graph = new GraphBuilder('single');
    graph.input('x', 'float', []);
    graph.output(graph.operator('Abs', ['x'], {}, 'y'), 'float', []);
    const single = await create(graph.build('single'));
    expect(single.tensors).toEqual({ inputs: [x], outputs: [y] });
  });

  it('tells which input is no tensor', async () => {
    const { tensors } = await create(ODD_MODELS.optionalInput());
    expect(tensors.inputs).toEqual([
      { name: 'x', elementType: 'float', shape: [-1, 4] },
      { name: 'spare', elementType: NO_TENSOR, shape: [] },
    ]);
  });

  // From Node.js 24 on there is a Float16Array.
  it('takes and gives float16 as bits', async () => {
    const graph = new GraphBuilder('halves');
    graph.input('x', 'float16', ['N']);
    graph.output(graph.operator('Add', ['x', 'x'], {}, 'y'), 'float16', ['N']);
    const { run } = await create(graph.build('halves'));
    const data = Uint16Array.of(0x3400, 0x3e00, 0xc200);
    const outputs = await run([{ name: 'x', elementType: 'float16', data, dims: [3] }], ['y']);
    expect(outputs.get('y')).toEqual({ data: Uint16Array.of(0x3800, 0x4200, 0xc600), dims: [3] });
  });

  it.each([
    ['text', Buffer.from('not a model'), 'is not an ONNX model, or is incomplete'],
    ['a model that is cut off', MODEL.subarray(0, -20), 'is not an ONNX model, or is incomplete'],
  ])('refuses %s and names the file', async (_case, bytes, text) => {
    await expect(create(bytes)).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: expect.stringMatching(new RegExp(`mine\\.onnx ${text}`)),
    });
  });

  it.each<[string, Uint8Array, RegExp]>([
    [
      'a newer file format',
      ODD_MODELS.newIr(),
      /^\S+mine\.onnx has the IR version 99; this ONNX Runtime reads \d+ at most: export the model /,
    ],
    [
      'newer operators',
      ODD_MODELS.newOpset(),
      /^\S+mine\.onnx has operators of ai\.onnx opset 99; this ONNX Runtime has \d+ at most: /,
    ],
    [
      'bfloat16',
      ODD_MODELS.bfloat16(),
      /^\S+mine\.onnx has an input or output of the element type bfloat16, which /,
    ],
    [
      'weights that are not there',
      ODD_MODELS.weightsOutside(),
      /^\S+mine\.onnx has weights in a separate file, which is missing: \S+weights\.bin; /,
    ],
    [
      'weights above its folder',
      ODD_MODELS.weightsOutside('../weights.bin'),
      /^\S+mine\.onnx has weights outside its folder, .*: \.\.\/weights\.bin is \S+weights\.bin, and not below /,
    ],
  ])('tells in plain words that a model has %s', async (_case, bytes, message) => {
    const refused = await create(bytes).catch((error: Error) => error);
    expect(refused).toMatchObject({ code: 'ERR_MODEL', message: expect.stringMatching(message) });
    expect((refused as Error).message).not.toMatch(/\.(cc|h):\d|::/);
  });

  it("takes weights from where the links of Hugging Face's cache lead", async () => {
    const cache = tempFolder();
    const [blobs, snapshot] = [join(cache, 'blobs'), join(cache, 'snapshots', 'abc', 'onnx')];
    for (const folder of [blobs, snapshot]) await mkdir(folder, { recursive: true });
    const bytes = ODD_MODELS.weightsOutside();
    await writeFile(join(blobs, 'aaa'), bytes);
    await writeFile(join(blobs, 'bbb'), Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    await symlink('../../../blobs/aaa', join(snapshot, 'model.onnx'));
    await symlink('../../../blobs/bbb', join(snapshot, 'weights.bin'));
    const { run } = await createOrtSession({
      modelFile: join(snapshot, 'model.onnx'),
      sha256: createHash('sha256').update(bytes).digest('hex'),
      runtime: TEST_SETTINGS,
      additionsTo: () => ({ bytes: new Uint8Array(0), outputs: [] }),
    });
    const input = { elementType: 'float', data: Float32Array.of(1, 1, 0, 0), dims: [1, 4] };
    const outputs = await run([{ name: 'x', ...input }], ['y']);
    expect(outputs.get('y')?.data).toEqual(Float32Array.of(4, 6));
  });

  it('tells all lines of an inference that failed', async () => {
    const { run } = await create(MODEL);
    const input = { elementType: 'float', data: new Float32Array(5), dims: [1, 5] };
    await expect(run([{ name: 'pixels', ...input }], ['absolute'])).rejects.toThrow(
      'Got invalid dimensions for input: pixels for the following indices; index: 1 Got: 5 Expected: 4; Please fix either the inputs/outputs or the model.',
    );
  });

  it('refuses a file that is not the one whose checksum was told', async () => {
    await expect(create(MODEL, TEST_SETTINGS, MODEL.subarray(1))).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: expect.stringMatching(/mine\.onnx changed while the node started/),
    });
  });

  it('tells ONNX Runtime whether the CPU may take what other providers do not', () => {
    const { extra } = sessionOptions({ ...TEST_SETTINGS, providers: ['cuda'] }, '/models');
    expect(extra).toMatchObject({ session: { disable_cpu_ep_fallback: '1' } });
    const mixed = sessionOptions({ ...TEST_SETTINGS, providers: ['cuda', 'cpu'] }, '/models');
    expect(mixed.extra).toMatchObject({ session: { disable_cpu_ep_fallback: '0' } });
    expect(mixed.executionProviders).toEqual(['cuda', 'cpu']);
  });
});
