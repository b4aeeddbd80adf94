import { defaultCacheFolder } from '../../shared/base/files/read-file.ts';
import { printText } from '../../shared/base/process/terminal.ts';
import { text } from '../../shared/config/setting.ts';
import { doubtsNow } from '../official/doubts.ts';
import { type LinkedLoadgen, linkedLoadgen, linkedLoadgens } from '../official/link.ts';
import { linkedText, listText } from '../official/linked-text.ts';
import { verb } from './verb.ts';

/** Folder of the linked LoadGens, for all verbs about them. */
export const CACHE_DIR = {
  cacheDir: text(
    'folder',
    'folder for what is linked (default: $XDG_CACHE_HOME or ~/.cache, and there longhaul)',
  ),
};

/** `longhaul loadgen list`: the linked LoadGens. */
export const listVerb = verb({
  settings: CACHE_DIR,
  example: `
Example:
  longhaul loadgen list

The first one is that of --engine cpp: linked by this longhaul before others, of a known tag before
others, then the newest version; with --round that of the round. --engine cpp:v4.1 names any other.
A folder whose manifest cannot be read is passed over, with a warning.

Exit codes: 0 there are some, 3 none is linked.`,
  action: ({ values: { cacheDir = defaultCacheFolder() } }) => {
    const loadgens = readLinked(cacheDir);
    return {
      text: listText(loadgens),
      json: loadgens.map(({ manifest, addonPath }) => ({ ...manifest, addonPath })),
      isGood: loadgens.length > 0,
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

Exit codes: 0 nothing is in doubt, 3 something is, 6 none is linked, or its files were changed.`,
  action: ({ values: { cacheDir = defaultCacheFolder() } }, name?: string) => {
    const linked = linkedLoadgen(cacheDir, { name });
    readLinked(cacheDir);
    return tellLinked(linked, doubtsNow(linked));
  },
});

/** The linked LoadGens; a warning for each folder that cannot be read. */
export function readLinked(cacheDir: string): readonly LinkedLoadgen[] {
  const { loadgens, damaged } = linkedLoadgens(cacheDir);
  for (const { error } of damaged) printText(process.stderr, `warning: ${error.message}\n`);
  return loadgens;
}

/**
 * Output of a verb about one linked LoadGen.
 * @param first Name of the default one.
 */
export function tellLinked(linked: LinkedLoadgen, doubts: readonly string[], first?: string) {
  const { manifest, addonPath } = linked;
  return {
    text: linkedText(linked, doubts, first),
    json: { ...manifest, addonPath, doubts },
    isGood: doubts.length === 0,
  };
}
