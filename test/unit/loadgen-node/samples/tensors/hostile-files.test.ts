import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  parseSample,
  SampleError,
} from '../../../../../loadgen-node/samples/tensors/jsonl/parse-sample.ts';
import { parseNpyHeader } from '../../../../../loadgen-node/samples/tensors/npy/npy-header.ts';
import { MlperfError } from '../../../../../shared/base/errors/mlperf-error.ts';
import {
  elementCount,
  OIP_ELEMENT_BYTES,
  type OipDataType,
} from '../../../../../shared/domain/tensors.ts';

// Goal: whatever is in a file, it is a sample that fits the model, or refused in words. Method:
// arbitrary JSON for inputs of any datatype; headers of .npy files with a few characters changed.

const DATATYPES = Object.keys(OIP_ELEMENT_BYTES) as OipDataType[];

/**
 * Values near what a sample has: arrays, objects of the keys that mean something, numbers at the
 * edges.
 */
const data = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      0,
      -1,
      1,
      255,
      256,
      2 ** 53,
      1e300,
      0.5,
      true,
      null,
      '',
      'NaN',
      '12',
      '99999999999999999999',
    ),
    fc.record(
      {
        b64: fc.constantFrom('', 'AQID', 'AQIDBA==', '*', 'AAAAAAAAAAA='),
        shape: fc.constantFrom([1], [2, 1], 3),
      },
      { requiredKeys: ['b64'] },
    ),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
})).value;

it('makes a sample of the right size of any JSON, or says what is wrong', () => {
  let taken = 0;
  fc.assert(
    fc.property(
      data,
      fc.constantFrom(...DATATYPES),
      fc.constantFrom([-1], [1], [2], []),
      fc.boolean(),
      (value, datatype, shape, isRest) => {
        const sample = isRest ? { inputs: [{ name: 'x', data: value }] } : { x: value };
        try {
          const [tensor] = parseSample(JSON.stringify(sample), [{ name: 'x', datatype, shape }]);
          const count = elementCount(tensor?.shape ?? []);
          const bytes = tensor?.raw.length ?? -1;
          if (datatype === 'BYTES') expect(bytes).toBeGreaterThanOrEqual(4 * count);
          else expect(bytes).toBe(OIP_ELEMENT_BYTES[datatype] * count);
          taken += 1;
        } catch (error) {
          expect(error).toBeInstanceOf(SampleError);
        }
      },
    ),
    { numRuns: 3_000, seed: 1 },
  );
  expect(taken).toBeGreaterThan(100);
});

it('reads a header of any characters, or refuses it', () => {
  const text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 224, 224), }";
  const change = fc.tuple(fc.nat(text.length - 1), fc.constantFrom(..."'(){}[],:LTF0 9<\n"));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 4 }), (changes) => {
      const letters = [...text];
      for (const [at, letter] of changes) letters[at] = letter;
      const bytes = Buffer.from(`\x93NUMPY\x01\x00..${letters.join('')}`, 'latin1');
      bytes.writeUInt16LE(text.length, 8);
      try {
        expect(parseNpyHeader(bytes, 'x').dataOffset).toBe(bytes.length);
      } catch (error) {
        expect(error).toBeInstanceOf(MlperfError);
      }
    }),
    { numRuns: 3_000, seed: 1 },
  );
});
