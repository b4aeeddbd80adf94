import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readClipTokenizer } from '../../../../../../loadgen-node/samples/benchmarks/stable-diffusion-xl/clip-tokenizer.ts';
import { openOnnxJudge } from '../../../../../../loadgen-node/samples/benchmarks/stable-diffusion-xl/onnx-judge.ts';
import { scorePictures } from '../../../../../../loadgen-node/samples/benchmarks/stable-diffusion-xl/picture-score.ts';
import { bicubicBytes } from '../../../../../../loadgen-node/samples/benchmarks/stable-diffusion-xl/resize-picture.ts';
import type {
  AccuracyEntry,
  AccuracyReport,
} from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import { GraphBuilder } from '../../../../../../sut-node/model/onnx/graph-builder.ts';
import { suiteFolder } from '../../../../../scenes/host/folders.ts';
import { npzOfDoubles } from '../../../../../scenes/simulated-run/npz-of-doubles.ts';

// Goal: FID and CLIP score are those that the user's own models give, by the arithmetic of the
// official script; a file that does not fit is named before the first picture. Method: graphs small
// enough to follow by hand, with the inputs and outputs of real exports.

const SIDE = 1024;
const VOCABULARY = ['a</w>', 'b</w>', '<|startoftext|>', '<|endoftext|>'];
const CAPTIONS = ['a', 'b b', 'a b'];
/** One colour each. */
const PICTURES = [
  [0, 51, 153],
  [51, 51, 153],
  [102, 51, 153],
] as const;
const CLIP_MEAN = [0.481_454_66, 0.457_827_5, 0.408_210_73];
const CLIP_DEVIATION = [0.268_629_54, 0.261_302_58, 0.275_777_11];

/** Features: means of red, green and blue, 0 to 1. */
function inception(graph = new GraphBuilder('inception'), side = SIDE): GraphBuilder {
  const input = graph.input('pictures', 'float', ['batch', 3, side, side]);
  const window = { kernel_shape: [16, 16], strides: [16, 16] };
  // In steps: a sum of a million float32 is not exact enough.
  graph.operator(
    'GlobalAveragePool',
    [graph.operator('AveragePool', [input], window)],
    {},
    'features',
  );
  graph.output('features', 'float', ['batch', 3, 1, 1]);
  return graph;
}

/**
 * Picture: its mean of each channel. Caption: a sum over its tokens: `a` is red, `b` green, the
 * beginning blue, the end grey.
 */
function clip(): GraphBuilder {
  const graph = new GraphBuilder('clip');
  const ids = graph.input('input_ids', 'int64', ['text_batch_size', 'sequence_length']);
  const pixels = graph.input('pixel_values', 'float', ['image_batch_size', 3, 224, 224]);
  const mask = graph.input('attention_mask', 'int64', ['text_batch_size', 'sequence_length']);
  const words = graph.constant([4, 3], Float32Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1, 9, 9, 9));
  const numbers = graph.operator('Cast', [mask], { to: 1 });
  const axis = graph.constant([1], BigInt64Array.of(2n));
  const factors = graph.operator('Unsqueeze', [numbers, axis]);
  const masked = graph.operator('Mul', [graph.operator('Gather', [words, ids]), factors]);
  const tokens = graph.constant([1], BigInt64Array.of(1n));
  graph.operator('ReduceSum', [masked, tokens], { keepdims: 0 }, 'text_embeds');
  graph.operator('ReduceMean', [pixels], { axes: [2, 3], keepdims: 0 }, 'image_embeds');
  graph.output('text_embeds', 'float', ['text_batch_size', 3]);
  graph.output('image_embeds', 'float', ['image_batch_size', 3]);
  return graph;
}

const folder = suiteFolder();
const path = (name: string): string => join(folder, name);

function writeGraph(name: string, graph: GraphBuilder): void {
  writeFileSync(path(name), graph.build('a test'));
}

beforeAll(() => {
  mkdirSync(path('tokenizer'));
  const ids = Object.fromEntries(VOCABULARY.map((token, id) => [token, id]));
  writeFileSync(path('tokenizer/vocab.json'), JSON.stringify(ids));
  writeFileSync(path('tokenizer/merges.txt'), '#version: 0.2\n');
  const end = '<|endoftext|>';
  const specials = { bos_token: '<|startoftext|>', eos_token: end, pad_token: end };
  writeFileSync(path('tokenizer/special_tokens_map.json'), JSON.stringify(specials));
});

beforeEach(() => {
  writeGraph('inception.onnx', inception());
  writeGraph('clip.onnx', clip());
  const sigma = [0.09, 0, 0, 0, 0.01, 0, 0, 0, 0];
  writeFileSync(path('val2014.npz'), npzOfDoubles({ mu: [0, 0, 0.6], sigma }));
});

async function score(): Promise<AccuracyReport> {
  const entries: AccuracyEntry[] = PICTURES.map((colour, sampleIndex) => {
    const response = new Uint8Array(SIDE * SIDE * 3);
    for (let i = 0; i < response.length; i += 1) response[i] = colour[i % 3] as number;
    return { sampleIndex, response };
  });
  const tokenizer = await readClipTokenizer(path('tokenizer'));
  // A sample that was answered twice counts once.
  const twice = [...entries, { sampleIndex: 0, response: new Uint8Array(SIDE * SIDE * 3) }];
  return scorePictures(twice, CAPTIONS, 'CLIP_SCORE', () => openOnnxJudge(folder, tokenizer));
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, value, i) => sum + value * (y[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

describe("scores of the user's own models", () => {
  it('are those that follow from their features by hand', async () => {
    const report = await score();
    // Red is 0, 0.2 and 0.4: mean 0.2, variance 0.04. 0.2² + 0.2² + 0.04 + (0.09 + 0.01) - 2
    // sqrt(0.04 x 0.09).
    expect(report.more?.['FID_SCORE']).toBeCloseTo(0.1, 5);
    const ofTexts = [
      [10, 9, 10],
      [9, 11, 10],
      [10, 10, 10],
    ];
    const ofPictures = PICTURES.map((colour) =>
      colour.map((byte, i) => (byte / 255 - (CLIP_MEAN[i] ?? 0)) / (CLIP_DEVIATION[i] ?? 0)),
    );
    const cosines = ofTexts.map((text, i) => cosine(text, ofPictures[i] ?? []));
    const mean = cosines.reduce((sum, value) => sum + value, 0) / 3;
    expect(report.value).toBeCloseTo(mean, 5);
    expect(report.sampleCount).toBe(3);
  });

  it('stand below the names and checksums of the files that gave them', async () => {
    const lines = (await score()).scriptLine?.split('\n') ?? [];
    const expected = ['val2014.npz', 'inception.onnx', 'clip.onnx'].map((name) => {
      const sha256 = createHash('sha256')
        .update(readFileSync(path(name)))
        .digest('hex');
      return `${path(name)}: SHA-256 ${sha256}`;
    });
    expect(lines.slice(0, -1)).toEqual(expected);
    expect(lines.at(-1)).toMatch(
      /^Accuracy Results: \{'FID_SCORE': [\d.]+, 'CLIP_SCORE': -?[\d.]+\}$/,
    );
  });

  it('need each file, and say which one is missing', async () => {
    for (const name of ['val2014.npz', 'inception.onnx', 'clip.onnx']) {
      const bytes = readFileSync(path(name));
      rmSync(path(name));
      await expect(score()).rejects.toMatchObject({
        code: 'ERR_NOT_INSTALLED',
        message: expect.stringMatching(`${name}: .*pictures are scored with it`),
      });
      writeFileSync(path(name), bytes);
    }
  });

  it.each<[string, string, () => GraphBuilder, RegExp]>([
    [
      'inception.onnx',
      'smaller pictures',
      () => inception(new GraphBuilder('x'), 299),
      /inception\.onnx does not fit: expected inputs pictures \(float32 \[1, 3, 1024, 1024\]\); found inputs pictures \(float32 \[batch, 3, 299, 299\]\)/,
    ],
    [
      'inception.onnx',
      'two inputs',
      clip,
      /inception\.onnx does not fit: .*found inputs input_ids .*, pixel_values/,
    ],
    [
      'clip.onnx',
      'other inputs',
      inception,
      /clip\.onnx does not fit: .* and outputs text_embeds, image_embeds; found inputs pictures .* and outputs features/,
    ],
    [
      'inception.onnx',
      'other features',
      () => {
        const graph = new GraphBuilder('x');
        const input = graph.input('pictures', 'float', [1, 3, SIDE, SIDE]);
        const mean = graph.operator('GlobalAveragePool', [input]);
        graph.operator('Concat', [mean, mean], { axis: 1 }, 'features');
        graph.output('features', 'float', [1, 6, 1, 1]);
        return graph;
      },
      /inception\.onnx: an output is expected that has 3 values of float32; found features with \[1, 6, 1, 1\]/,
    ],
  ])('refuse %s that has %s', async (name, _what, graph, text) => {
    writeGraph(name, graph());
    await expect(score()).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(text),
    });
  });

  it('refuse what is no model, or no statistics', async () => {
    writeFileSync(path('clip.onnx'), 'no model');
    await expect(score()).rejects.toThrow(/clip\.onnx: .*[Pp]rotobuf/);
    writeFileSync(path('val2014.npz'), npzOfDoubles({ mu: [0, 0, 0], sigma: [1, 0, 0, 1] }));
    await expect(score()).rejects.toThrow(/val2014\.npz: mu has 3 numbers and sigma 4/);
  });
});

describe("CLIP's picture", () => {
  it("is Pillow's bicubic one of 224 x 224, byte by byte", () => {
    const rgb = new Uint8Array(SIDE * SIDE * 3);
    for (let y = 0; y < SIDE; y += 1) {
      for (let x = 0; x < SIDE; x += 1) {
        const red = (x * x * 7 + y * 13) % 256;
        const blue = (Math.floor(x / 37) * 50 + Math.floor(y / 29) * 31) % 256;
        rgb.set([red, (x * y) % 251, blue], (y * SIDE + x) * 3);
      }
    }
    // Pillow 12.3.0: sha256(Image.fromarray(a).resize((224, 224), Image.BICUBIC).tobytes()).
    const found = createHash('sha256')
      .update(bicubicBytes(rgb, SIDE, 224))
      .digest('hex');
    expect(found).toBe('aa43eff7c1d59f011a58e43383c75f173206b36f364ecc7e000a5d231157e01b');
  });
});
