import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { makeOwnStubs, makeTritonClient, tritonClientObstacle } from './python.ts';
import { ServicerProcess } from './servicer-process.ts';
import { type TritonAnswer, type TritonStep, tritonClient } from './triton-client.ts';

// Goal: the two programs of this folder that stand for others are right, so that what they say of
// longhaul counts. Method: NVIDIA's client against the servicer; neither of them is longhaul.
const WHY_NOT = tritonClientObstacle();
if (WHY_NOT !== undefined) console.log(`tritonclient against the servicer is skipped: ${WHY_NOT}`);

const X = { name: 'x', datatype: 'FP32', shape: [2, 4], values: [1, 2, 3, 4, 5, 6, 7, 8] };

describe.skipIf(WHY_NOT !== undefined)('tritonclient and the servicer', () => {
  let servicer: ServicerProcess;
  let client: string;

  beforeAll(async () => {
    client = makeTritonClient(suiteFolder());
    servicer = await ServicerProcess.start(makeOwnStubs(suiteFolder()));
  });
  afterAll(() => servicer?.kill());

  const ask = (...steps: TritonStep[]): Promise<readonly TritonAnswer[]> =>
    tritonClient(client, servicer.address, steps);

  it('agree on inference, raw and typed, on errors and on streams', async () => {
    const [raw, typed, unknown, shape, stream] = await ask(
      { call: 'infer', model: 'double', inputs: [X], id: 'one' },
      { call: 'infer', model: 'double', inputs: [X], typed: true },
      { call: 'infer', model: 'nothing', inputs: [X] },
      { call: 'infer', model: 'double', inputs: [{ ...X, sayShape: [4, 2] }] },
      {
        call: 'stream',
        requests: [
          {
            model: 'tokens',
            id: 't',
            wantsFinal: true,
            inputs: [{ name: 'count', datatype: 'INT32', shape: [1], values: [2] }],
          },
        ],
        count: 3,
      },
    );
    expect(raw?.value).toMatchObject({ id: 'one', isRaw: true });
    expect(raw?.value.outputs.y.values).toEqual([2, 4, 6, 8, 10, 12, 14, 16]);
    expect(typed?.value.outputs).toEqual(raw?.value.outputs);
    expect(unknown?.error?.status).toBe('StatusCode.NOT_FOUND');
    expect(shape?.error?.status).toBe('StatusCode.INVALID_ARGUMENT');
    expect(stream?.value).toMatchObject([
      { id: 't', isFinal: false, outputs: { token: { values: [0] } } },
      { id: 't', isFinal: false, outputs: { token: { values: [1] } } },
      { id: 't', isFinal: true, outputs: {} },
    ]);
  });
});
