import { RESPONSE_BYTES } from '../../../shared/benchmarks/digits/response.ts';
import { loadJpegCodec } from '../../../shared/benchmarks/image/jpeg.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { checkModelFits, refuseUsage } from '../../pipeline/model-fit.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { INPUT_NAME, LABEL_OUTPUT_NAME, MODEL_NAME, SAMPLE_SHAPE } from './digits-graph.ts';
import { postprocess } from './postprocess.ts';
import { prepareModel } from './prepare-model.ts';
import { preprocess } from './preprocess.ts';

/**
 * A grey JPEG of 48 x 48 pixels. A file and not pixels, so that warm-up loads the codec too, which the
 * first sample would wait for otherwise. Made by sharp: `create` 48x48 "#808080", `jpeg` of quality 85.
 */
const GREY_JPEG = Buffer.from(
  '/9j/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkMEQ8SEhEPERETFhwXExQaFRERGCEYGh0dHx8fExciJCIeJBwe' +
    'Hx7/2wBDAQUFBQcGBw4ICA4eFBEUHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4e' +
    'Hh7/wAARCAAwADADASIAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/xAAU' +
    'AQEAAAAAAAAAAAAAAAAAAAAA/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AAAAAAAAAAAAAAAAAAA//2Q==',
  'base64',
);

/** What the model must have. */
const EXPECTED = {
  inputs: [{ name: INPUT_NAME, elementType: 'float', sampleShape: SAMPLE_SHAPE }],
  outputNames: [LABEL_OUTPUT_NAME],
};

/**
 * The embedded example on the SUT node: a small classifier of digits that longhaul fits itself, or a
 * user's own model with the same input and output. The response is the class (see
 * shared/benchmarks/digits/response.ts).
 */
export const benchmark: SutBenchmark = {
  rules: benchmarkRules('digits'),
  builtInModels: { example: MODEL_NAME },
  reference: undefined,
  responseBytesMax: RESPONSE_BYTES,
  sampleElements: SAMPLE_SHAPE.reduce((a, b) => a * b, 1),
  prepareModel,
  // The workers decode images: see loadJpegCodec for why the main thread loads the codec before them.
  prepareProcess: loadJpegCodec,
  openPipeline: (model, usage) => {
    refuseUsage(usage, 'the benchmark digits');
    checkModelFits(model, 'the benchmark digits', EXPECTED);
    return {
      ...EXPECTED,
      responseNumber: 'int32',
      forms: ['jpeg', 'raw'],
      tensorForms: [],
      checkTensor: () => {
        throw new Error('no payload of digits is the tensor itself');
      },
      preprocess: (payload, form, [target]) => preprocess(payload, form, target as Float32Array),
      postprocess,
      warmUpPayload: () => ({ form: 'jpeg', payload: GREY_JPEG }),
    };
  },
};
