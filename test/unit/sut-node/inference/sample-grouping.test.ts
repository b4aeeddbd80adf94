import { describe, expect, it } from 'vitest';
import { sampleGrouping } from '../../../../sut-node/inference/onnx-model.ts';
import { openPipeline } from '../../../../sut-node/pipeline/open-pipeline.ts';
import { waitingSample } from '../../../scenes/simulated-run/sut-parts.ts';

// Goal: samples that may share an inference are in one group, and no others where their lengths are
// known. Method: models with and without free axes, samples of some bytes.

const ENCODINGS = [
  { form: 'raw', compression: 'identity' },
  { form: 'raw', compression: 'lz4' },
] as const;

function grouping(shape: readonly number[], freeAxes: 'group' | 'pad' = 'group') {
  const inputs = [{ name: 'x', elementType: 'float', shape }];
  const pipeline = openPipeline({ file: 'm', inputs, outputs: inputs }, {});
  return sampleGrouping(pipeline, { hasAxis: true, sizeFixed: undefined, freeAxes }, ENCODINGS);
}

describe('sampleGrouping', () => {
  it('tells uncompressed samples apart by their length', () => {
    const groupOf = grouping([-1, -1]);
    const groups = [8, 12, 8].map((bytes) => groupOf?.(waitingSample(0, { bytes, form: 0 })));
    expect(groups[0]).toBe(groups[2]);
    expect(groups[0]).not.toBe(groups[1]);
  });

  it('leaves compressed samples together, since their length is not known yet', () => {
    const groupOf = grouping([-1, -1]);
    const groups = [8, 12].map((bytes) => groupOf?.(waitingSample(0, { bytes, form: 1 })));
    expect(groups[0]).toBe(groups[1]);
  });

  it('knows the length of a sample whose query is compressed as a whole', () => {
    const groupOf = grouping([-1, -1]);
    const slice = { begin: 4, end: 12, total: 100 };
    const compressed = waitingSample(0, { bytes: 3, form: 1, slice });
    expect(groupOf?.(compressed)).toBe(groupOf?.(waitingSample(0, { bytes: 8, form: 0 })));
  });

  it('reads the length out of an uncompressed payload where its bytes do not tell it', () => {
    const inputs = [{ name: 'x', elementType: 'float', shape: [-1, -1] }];
    const groupOf = sampleGrouping(
      {
        ...openPipeline({ file: 'm', inputs, outputs: inputs }, {}),
        isLengthInContent: true,
        lengthOf: (payload) => {
          if (payload[0] === 0) throw new Error('no length');
          return payload[0] as number;
        },
      },
      { hasAxis: true, sizeFixed: undefined, freeAxes: 'group' },
      ENCODINGS,
    );
    const group = (form: number, ...pieces: Uint8Array[]) =>
      groupOf?.({ ...waitingSample(0, { bytes: 2, form }), pieces });
    const [a, b] = [Uint8Array.of(7, 1), Uint8Array.of(9, 1)];
    expect(group(0, a)).toBe(group(0, Uint8Array.of(7), Uint8Array.of(2)));
    expect(group(0, a)).not.toBe(group(0, b));
    expect(group(1, a)).toBe(group(1, b));
    expect(group(0, Uint8Array.of(0, 1))).toBe(group(1, a));
  });

  it.each([
    ['no axis is free', grouping([-1, 2])],
    ['samples are padded', grouping([-1, -1], 'pad')],
  ])('makes no groups where %s', (_case, groupOf) => {
    expect(groupOf).toBeUndefined();
  });
});
