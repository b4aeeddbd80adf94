import { defaultCacheFolder } from '../../shared/base/files/read-file.ts';
import { text } from '../../shared/config/setting.ts';
import { findLoadgen } from '../official/checkout.ts';
import { doubtsAbout } from '../official/doubts.ts';
import { linkLoadgen, loadgenNameOf } from '../official/link.ts';
import { nameByList } from '../official/tag-list.ts';
import { CACHE_DIR, readLinked, tellLinked } from './linked.ts';
import { verb } from './verb.ts';

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
    tagList: text(
      'file',
      'JSON: your list of tags that longhaul does not know, each with the SHA-1 of its sources',
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

A tag that longhaul does not know is taken from your list, in the form
  { "tags": [{ "tag": "v7.0", "version": "7.0.1", "files": { "/loadgen.cc": SHA-1, ... } }] }
and all that is said of it says so: it is your word, and stays in doubt.

Exit codes: 0 linked, 3 linked, and something about it is in doubt, 2 it cannot be linked,
6 no C++ compiler, or a file cannot be written.`,
  action: ({ values }) => {
    const { inferenceDir, library, tagList, cxx, cacheDir = defaultCacheFolder() } = values;
    const checkout = findLoadgen(inferenceDir, library);
    const made = linkLoadgen(checkout, { compiler: cxx, cacheFolder: cacheDir });
    const linked = tagList === undefined ? made : nameByList(made, tagList);
    const [first] = readLinked(cacheDir);
    return tellLinked(linked, doubtsAbout(linked), first && loadgenNameOf(first));
  },
});
