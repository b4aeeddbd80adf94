import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { defaultCacheFolder } from '../../../shared/base/files/read-file.ts';
import { mlperfConfOf } from '../../../shared/rules/rounds/rounds.ts';
import { parseConf } from '../../loadgen/settings/conf-grammar.ts';
import { linkedLoadgen, linkedLoadgens } from '../../official/link.ts';
import { checkoutConf, fittingRound, roundOfVersion } from '../../official/official-test.ts';
import { departuresOf } from './departures.ts';
import type { RunValues } from './run-settings.ts';

/** True if the engine is a linked C++ LoadGen. */
export function isCppEngine(engine: string | undefined): boolean {
  return engine !== undefined && engine !== 'longhaul';
}

/**
 * @throws MlperfError `ERR_CONFIG_INVALID` for work that the C++ LoadGen cannot do. @param why
 *   Second part of the sentence.
 */
export function refuseCppEngine({ engine }: Pick<RunValues, 'engine'>, why: string): void {
  if (engine === 'longhaul') return;
  throw configInvalid(`--engine ${engine}: ${why}`);
}

/**
 * Values of a run for the requested engine: a C++ LoadGen brings its round along.
 * @throws MlperfError `ERR_NOT_INSTALLED` if none is linked, `ERR_CONFIG_INVALID` for what it
 *   cannot do
 */
export function withEngine(values: RunValues, said: ReadonlySet<string>) {
  if (!isCppEngine(values.engine)) return { values, said, linked: undefined, linkNotes: [] };
  for (const { flag, inPlaceOf } of departuresOf(values))
    throw configInvalid(`--engine cpp cannot do ${flag}: its Server has ${inPlaceOf}`);
  const refused: readonly (readonly [boolean, string])[] = [
    [values.extendUntilDecided === true, '--extend-until-decided: it ends a run by its own rules'],
    [values.mode === 'find-peak', '--mode find-peak: use longhaul find-peak'],
    [(values.runs ?? 1) > 1, '--runs: make them one by one, each with its own --output'],
    [values.mlperfConf !== undefined, '--mlperf-conf: it reads that of its checkout'],
  ];
  const first = refused.find(([isAsked]) => isAsked);
  if (first !== undefined) throw configInvalid(`--engine cpp cannot do ${first[1]}`);
  const cacheFolder = values.cacheDir ?? defaultCacheFolder();
  const linked = linkedLoadgen(cacheFolder, {
    name: values.engine.split(':')[1],
    isPreferred: ({ build }) => values.round === roundOfVersion(build.version),
  });
  const round = fittingRound(linked, values.round);
  // As if they were set explicitly: LoadGen's own lengths and seeds hold.
  const conf = checkoutConf(linked);
  // A benchmark outside the round then keeps its own bound, as in any run of the round.
  const isOfRound = conf === undefined || linesOf(conf.text) === linesOf(mlperfConfOf(round));
  const own = isOfRound ? { round } : { round, mlperfConf: conf.name };
  const { damaged } = linkedLoadgens(cacheFolder);
  return {
    values: { ...values, ...own },
    said: new Set([...said, ...Object.keys(own)]),
    linked,
    /** Errors of other links. */
    linkNotes: damaged.map(({ error }) => `warning: ${error.message}`),
  };
}

/** The settings in a configuration file, ignoring comments and order. */
function linesOf(text: string | null): string {
  const { entries } = parseConf(text ?? '');
  return [...entries]
    .map(([key, entry]) => `${key} = ${entry.text}`)
    .sort()
    .join('\n');
}
