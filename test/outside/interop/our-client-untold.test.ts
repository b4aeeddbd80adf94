import { beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaul } from '../../scenes/host/processes.ts';
import { runAgainst, startServicer } from './our-client.ts';
import { makeOwnStubs, pythonObstacle } from './python.ts';
import type { ServicerProcess } from './servicer-process.ts';

// Goal: models are measured whose servers tell neither inputs nor outputs, as TorchServe and
// runtimes of KServe do not. Method: the compiled command line against servicer.py, which then has
// no tensors in its metadata.
const WHY_NOT = pythonObstacle();
if (WHY_NOT !== undefined) console.log(`our client without metadata is skipped: ${WHY_NOT}`);

describe.skipIf(WHY_NOT !== undefined)('longhaul and a server of another make', () => {
  let stubs: string;
  beforeAll(() => {
    stubs = makeOwnStubs(suiteFolder());
  });

  const start = (options = {}): Promise<ServicerProcess> => startServicer(stubs, options);

  describe('where the metadata have no tensors', () => {
    const declared = (...inputs: string[]): string[] => ['--input-shape', inputs.join(',')];

    it.each([
      ['double', ['x:FP32:-1x4'], /y FP32 \[-1, 4\]/],
      ['fixed', ['x:FP32:1x3'], /y FP32 \[1, 3\]/],
      ['two', ['a:FP32:-1x2', 'b:INT64:-1x1'], /sum FP32 \[-1, 1\], count INT64 \[-1, 1\]/],
      ['length', ['text:BYTES:-1x1'], /bytes UINT32 \[-1, 1\]/],
    ])('measures model %s by declared inputs', async (model, inputs, outputs) => {
      const run = await runAgainst(
        [await start({ emptyMetadata: true })],
        model,
        declared(...inputs),
      );
      expect(run.code, run.stderr).toBe(0);
      expect(run.stdout).toMatch(outputs);
      expect(run.log.get('result_validity')).toBe('VALID');
    });

    it('joins samples in a request where the declaration says which axis counts them', async () => {
      const load = ['--scenario', 'Offline', '--target-qps', '100', '--oip-batch', '4'];
      const server = await start({ emptyMetadata: true });
      const run = await runAgainst([server], 'two', [
        ...[...load, ...declared('a:FP32:-1x2', 'b:INT64:-1x1')],
      ]);
      expect(run.code, run.stderr).toBe(0);
      expect(run.seen[0]?.batches['4']).toBeGreaterThan(5);
    });

    it('says what is missing, and shows how the server takes a wrong declaration', async () => {
      const none = await runAgainst([await start({ emptyMetadata: true })], 'double');
      expect(none.code).toBe(2);
      expect(none.stderr).toMatch(/reports no inputs of model double.*--input-shape NAME:DATATYPE/);
      expect(none.seen[0]).toMatchObject({ unary: 0, messages: 0 });
      const wrong = await runAgainst(
        [await start({ emptyMetadata: true })],
        'double',
        declared('x:FP32:-1x5'),
      );
      expect(wrong.code).not.toBe(0);
      expect(wrong.stderr).toMatch(/unexpected shape for input 'x': \[1, 5\]/);
      const other = await runAgainst([await start()], 'double', declared('x:INT64:-1x4'));
      expect(other.code).toBe(2);
      expect(other.stderr).toMatch(/the server reports x as FP32 \[-1, 4\]/);
    });

    it('is told by the probe', async () => {
      const server = await start({ emptyMetadata: true });
      const sut = ['probe', `oip://${server.address}`, '--model', 'double'];
      const { code, stdout, stderr } = await longhaul(sut);
      expect(code, stderr).toBe(0);
      expect(stdout).toMatch(/input\s+not reported/);
      expect(stdout).toContain('--input-shape NAME:DATATYPE:LENGTHS');
    });
  });
});
