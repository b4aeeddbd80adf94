import { defaultCacheFolder } from '../../shared/base/files/read-file.ts';
import { text } from '../../shared/config/setting.ts';
import { findLoadgen } from '../official/checkout.ts';
import {
  doubtsAbout,
  doubtsNow,
  type LinkedLoadgen,
  linkedLoadgen,
  linkedLoadgens,
  linkLoadgen,
  nameOf,
} from '../official/link.ts';
import { linkedText, listText } from '../official/linked-text.ts';
import { verb } from './verb.ts';

const CACHE_DIR = {
  cacheDir: text(
    'folder',
    'folder for what is linked (default: $XDG_CACHE_HOME or ~/.cache, and there longhaul)',
  ),
};

/** `longhaul loadgen link`: links the user's C++ LoadGen with the bridge to the QDL. */
export const linkVerb = verb({
  settings: {
    inferenceDir: text(
      'folder',
      "checkout of MLCommons' repository inference, with LoadGen built in it",
      {
        required: true,
      },
    ),
    library: text(
      'file',
      'its static library (default: the newest libmlperf_loadgen.a below its folder loadgen)',
    ),
    cxx: text('program', 'C++ compiler', { fallback: 'g++' }),
    ...CACHE_DIR,
  },
  example: `
Build LoadGen first, by its own instructions and as position-independent code:
  git clone --branch v5.1.1 https://github.com/mlcommons/inference
  cmake -S inference/loadgen -B inference/loadgen/build -DCMAKE_POSITION_INDEPENDENT_CODE=ON
  cmake --build inference/loadgen/build

Then:
  longhaul loadgen link --inference-dir inference
  longhaul run --engine cpp --sut 10.0.0.2:50051 --benchmark resnet50 --target-qps 100

Exit codes: 0 linked, 3 linked, and something about it is in doubt, 2 it cannot be linked.`,
  action: ({ values }) => {
    const { inferenceDir, library, cxx, cacheDir = defaultCacheFolder() } = values;
    const checkout = findLoadgen(inferenceDir, library);
    const linked = linkLoadgen(checkout, { compiler: cxx, cacheFolder: cacheDir });
    const [first] = linkedLoadgens(cacheDir);
    return told(linked, doubtsAbout(linked), first && nameOf(first));
  },
});

/** `longhaul loadgen list`: the linked LoadGens. */
export const listVerb = verb({
  settings: CACHE_DIR,
  example: `
Example:
  longhaul loadgen list

The first one is that of --engine cpp: of a known tag before others, then the newest version; with
--round that of the round. Any other is named: --engine cpp:v4.1.

Exit codes: 0 there are some, 3 none is linked.`,
  action: ({ values: { cacheDir = defaultCacheFolder() } }) => {
    const all = linkedLoadgens(cacheDir);
    return {
      text: listText(all),
      json: all.map(({ manifest, addonPath }) => ({ ...manifest, addonPath })),
      isGood: all.length > 0,
    };
  },
});

/** `longhaul loadgen verify`: compares the linked LoadGen with its checkout again. */
export const verifyVerb = verb({
  takes: { '[name]': 'which of several (default: that of --engine cpp)' },
  settings: CACHE_DIR,
  example: `
Example:
  longhaul loadgen verify
  longhaul loadgen verify v4.1

Exit codes: 0 nothing is in doubt, 3 something is, 2 none is linked, or its files were changed.`,
  action: ({ values: { cacheDir = defaultCacheFolder() } }, name?: string) => {
    const linked = linkedLoadgen(cacheDir, { name });
    return told(linked, doubtsNow(linked));
  },
});

/** @param first Name of the one that is taken unasked. */
function told(linked: LinkedLoadgen, doubts: readonly string[], first?: string) {
  const { manifest, addonPath } = linked;
  return {
    text: linkedText(linked, doubts, first),
    json: { ...manifest, addonPath, doubts },
    isGood: doubts.length === 0,
  };
}
