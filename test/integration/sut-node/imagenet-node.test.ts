import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { beforeAll, describe, expect, it } from 'vitest';
import { drawClass } from '../../../loadgen-node/samples/benchmarks/imagenet/draw-class.ts';
import type { Open } from '../../../proto/gen/mlperf/network/v1/Open.ts';
import { IMAGENET_ELEMENTS, STANDIN_EVALUATION_SET } from '../../../shared/rules/cards/imagenet.ts';
import type { PartSample } from '../../../shared/wire/part-codec.ts';
import { FAILURE_CODES } from '../../../shared/wire/responses-codec.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { writeToyStandin } from '../../scenes/simulated-run/data-sets.ts';
import { ask, InferClient } from '../../scenes/sut-node/sut-client.ts';
import { openStream, startTestNode } from '../../scenes/sut-node/sut-node.ts';

// Goal: a node of an official benchmark reads every form of an image, fails the samples that are
// none, each by itself, named and counted, and lives on. Method: a real node with a toy model that
// says one class whatever it sees; good and bad samples in one query.
const CLASS = 7;
const FORMS = ['jpeg', 'uint8', 'fp32'];

const encodings = FORMS.map((form) => ({ form, compression: 'identity' }));

const OPEN: Open = {
  protocolVersion: 1,
  runId: 'run-1',
  benchmark: 'resnet50',
  division: 'DIVISION_NETWORK',
  encodings,
  responseEncodings: [{ form: 'raw', compression: 'identity' }],
};

let model: string;
let jpeg: Uint8Array;

beforeAll(async () => {
  model = writeToyStandin(suiteFolder(), CLASS);
  ({ jpeg } = await drawClass(STANDIN_EVALUATION_SET, 0));
});

function sample(id: number, form: string, payload: Uint8Array): PartSample {
  return { id, payload, encoding: FORMS.indexOf(form), offset: 0, total: 0 };
}

function floats(place: number, value: number): Uint8Array {
  const tensor = new Float32Array(IMAGENET_ELEMENTS);
  tensor[place] = value;
  return new Uint8Array(tensor.buffer);
}

describe('a node of resnet50', () => {
  it('fails each bad sample by itself, says why, counts it, lives on and calls its model a stand-in', async () => {
    const node = await startTestNode({ benchmark: 'resnet50', model });
    const client = await openStream(node, OPEN);
    client.part(0, [
      sample(0, 'jpeg', jpeg),
      sample(1, 'jpeg', jpeg.subarray(0, jpeg.length / 2)),
      sample(2, 'jpeg', Buffer.from('no picture at all')),
      sample(3, 'uint8', new Uint8Array(IMAGENET_ELEMENTS)),
      sample(4, 'uint8', new Uint8Array(IMAGENET_ELEMENTS - 1)),
      sample(5, 'fp32', floats(0, 1)),
      sample(6, 'fp32', floats(77, Number.NaN)),
      sample(7, 'fp32', new Uint8Array(12)),
    ]);
    await client.answered(8);
    const reasons = new Map(client.failed.map(({ id, text }) => [id, text]));
    expect([...reasons.keys()].sort()).toEqual([1, 2, 4, 6, 7]);
    expect(reasons.get(1)).toMatch(/truncated/);
    expect(reasons.get(2)).toMatch(/not a JPEG/);
    expect(reasons.get(4)).toMatch(/150528 bytes.*150527/);
    expect(reasons.get(6)).toMatch(/element 77.*NaN/);
    expect(reasons.get(7)).toMatch(/602112 bytes.*12/);
    expect(new Set(client.failed.map(({ code }) => code))).toEqual(
      new Set([FAILURE_CODES['bad-sample']]),
    );
    expect(client.completed.map(({ id, payload }) => [id, classOf(payload)])).toEqual(
      expect.arrayContaining([0, 3, 5].map((id) => [id, CLASS])),
    );
    client.part(1, [sample(8, 'jpeg', jpeg)]);
    await client.answered(9);
    expect(client.completed).toHaveLength(4);
    expect(await ask(node.address, 'Ledger', { runId: 'run-1' })).toMatchObject({
      sampleCount: 9,
      completedCount: 4,
      failedCount: 5,
    });
    const { models } = await ask(node.address, 'Describe', {});
    expect(models[0]).toMatchObject({ benchmark: 'resnet50', isStandIn: true });
  });

  it('says in its Name that its model is a stand-in', async () => {
    const standIn = join(suiteFolder(), 'resnet50-standin-toy.onnx');
    copyFileSync(model, standIn);
    const node = await startTestNode({ benchmark: 'resnet50', model: standIn });
    const { name } = await ask(node.address, 'Name', {});
    expect(name).toMatch(/^[^ ]+ \(stand-in: resnet50-standin-toy\)$/);
    expect(await ask(node.address, 'Describe', {})).toMatchObject({ name });
  });
});

describe('a node whose description names another pre-processor', () => {
  function described(preprocess: string): string {
    const file = join(suiteFolder(), `${preprocess}.yaml`);
    writeFileSync(file, `model: ${model}\npreprocess: ${preprocess}\n`);
    return file;
  }

  it('refuses a run in a form that it does not read, and takes the others', async () => {
    const node = await startTestNode({ benchmark: 'resnet50', model: described('tensor') });
    const { models } = await ask(node.address, 'Describe', {});
    expect(new Set(models[0]?.encodings.map(({ form }) => form))).toEqual(new Set(['fp32']));
    const jpegs = new InferClient(node.address, {
      ...OPEN,
      encodings: encodings.slice(0, 1),
    });
    expect(await jpegs.ended).toMatchObject({
      code: status.FAILED_PRECONDITION,
      details: expect.stringMatching(
        /^benchmark resnet50 with model .+, as it is described, takes samples as fp32.+ the run offers jpeg\/identity$/,
      ),
    });
    const client = await openStream(node, { ...OPEN, encodings: encodings.slice(2) });
    client.part(0, [{ ...sample(1, 'fp32', floats(0, 1)), encoding: 0 }]);
    await client.answered(1);
    expect(client.completed).toHaveLength(1);
  });

  it('does not start where it reads no form of the benchmark', async () => {
    const starting = startTestNode({ benchmark: 'custom', model: described('imagenet-vgg') });
    await expect(starting).rejects.toMatchObject({
      code: 'ERR_MODEL',
      message: expect.stringContaining(
        'reads jpeg, uint8, fp32, but samples of this benchmark travel as raw',
      ),
    });
  });
});

function classOf(payload: Uint8Array): number {
  return new DataView(payload.buffer, payload.byteOffset, 4).getFloat32(0, true);
}
