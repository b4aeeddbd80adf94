import { z } from 'zod';
import { parseDuration } from '../../shared/base/text.ts';
import { choice, count, duration, type SettingValues, text } from '../../shared/config/setting.ts';

/**
 * Element types of token ids in responses, little-endian: what the scripts of token benchmarks
 * read.
 */
const TOKEN_ID_TYPES = ['int64', 'int32'] as const;

/** Default of samples that the delay model serves at once: as many as a stream of the QDL has. */
export const DELAY_CONCURRENCY_DEFAULT = 65_536;

/** Longest service of one sample, in ns; what an exponential draw may exceed. */
const SERVICE_NS_MAX = 24 * 3600e9;

/** Most output tokens of one sample: 8 MiB of ids. */
export const TOKENS_MAX: number = 2 ** 20;

const TIMES_MESSAGE =
  'must be fixed:TIME, exponential:TIME (the mean, above 0) or list:FILE, with a time such as 10ms, 24h at most';
const TOKENS_MESSAGE = `must be a number from 1 to ${TOKENS_MAX}, uniform:MIN-MAX of such numbers, or list:FILE`;

/** Settings of the benchmark `delay`, by key of the configuration file. */
export const DELAY_OPTIONS = {
  delayModel: {
    ...text(
      'fixed:time|exponential:time|list:file',
      'benchmark delay: how long a sample is served; a list has one time per line (default: fixed:10ms)',
    ),
    schema: parsed(z.string(TIMES_MESSAGE), TIMES_MESSAGE, parseServiceTimes).optional(),
  },
  delaySeed: count(
    { min: 0, max: 2 ** 32 - 1 },
    'benchmark delay: seed of random times (default: 0)',
  ),
  delayConcurrency: count(
    { min: 1, max: 2 ** 20 },
    `benchmark delay: samples served at once; others wait in the queue (default: ${DELAY_CONCURRENCY_DEFAULT})`,
  ),
  delayTokens: {
    ...text(
      'n|uniform:min-max|list:file',
      'benchmark delay: output tokens of a sample, with the two times below in place of --delay-model',
    ),
    schema: parsed(
      z.union([z.string(), z.number()], TOKENS_MESSAGE),
      TOKENS_MESSAGE,
      parseTokenCounts,
    ).optional(),
  },
  delayFirstToken: duration('benchmark delay: time to the first token, with --delay-tokens'),
  delayToken: duration('benchmark delay: time from one token to the next, with --delay-tokens'),
  delayTokenPerSequence: duration(
    'benchmark delay: what each sequence that generates adds to that time, as in continuous batching, with --delay-tokens (default: 0s)',
  ),
  delayTokenType: choice(
    TOKEN_ID_TYPES,
    'benchmark delay: token ids in responses, with --delay-tokens (default: int64)',
  ),
};

/** Settings of the benchmark `delay`; undefined: not set. */
export interface DelaySettings {
  readonly model: DelayTimes | undefined;
  readonly seed: number | undefined;
  readonly concurrency: number | undefined;
  /** Output tokens of a sample; then the two times below hold in place of `model`. */
  readonly tokens: TokenCounts | undefined;
  readonly firstTokenNs: number | undefined;
  readonly tokenNs: number | undefined;
  /** Added to `tokenNs` by each sequence that generates. */
  readonly perSequenceNs: number | undefined;
  readonly tokenType: (typeof TOKEN_ID_TYPES)[number] | undefined;
}

/**
 * Effective options as settings of the benchmark `delay`. With `tokens` the two times behind it
 * hold in place of `model`.
 */
export function toDelaySettings(values: SettingValues<typeof DELAY_OPTIONS>): DelaySettings {
  return {
    model: values.delayModel,
    seed: values.delaySeed,
    concurrency: values.delayConcurrency,
    tokens: values.delayTokens,
    firstTokenNs: values.delayFirstToken,
    tokenNs: values.delayToken,
    perSequenceNs: values.delayTokenPerSequence,
    tokenType: values.delayTokenType,
  };
}

/**
 * A schema that parses a text into a value.
 * @param message Error if the text cannot be parsed.
 * @param parse Returns undefined if the text cannot be parsed.
 */
function parsed<T>(
  inner: z.ZodType<string | number>,
  message: string,
  parse: (text: string) => T | undefined,
): z.ZodType<T> {
  return inner.transform((value, context) => {
    const meant = parse(String(value).trim());
    if (meant !== undefined) return meant;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** How long a sample is served. */
export type DelayTimes =
  | { readonly kind: 'fixed'; readonly ns: number }
  | { readonly kind: 'exponential'; readonly meanNs: number }
  | { readonly kind: 'list'; readonly file: string };

function parseServiceTimes(value: string): DelayTimes | undefined {
  const [kind, rest] = split(value);
  if (kind === 'list') return rest === '' ? undefined : { kind, file: rest };
  const ns = parseServiceTime(rest);
  if (ns === undefined) return undefined;
  if (kind === 'fixed') return { kind, ns };
  return kind === 'exponential' && ns > 0 ? { kind, meanNs: ns } : undefined;
}

/** How many output tokens a sample has. */
export type TokenCounts =
  | { readonly kind: 'fixed'; readonly count: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number }
  | { readonly kind: 'list'; readonly file: string };

function parseTokenCounts(value: string): TokenCounts | undefined {
  const fixed = parseTokenCount(value);
  if (fixed !== undefined) return { kind: 'fixed', count: fixed };
  const [kind, rest] = split(value);
  if (kind === 'list') return rest === '' ? undefined : { kind, file: rest };
  const range = rest.split('-').map(parseTokenCount);
  const [min, max] = range;
  if (kind !== 'uniform' || range.length !== 2 || min === undefined || max === undefined) {
    return undefined;
  }
  return min <= max ? { kind, min, max } : undefined;
}

/** A time such as `10ms` in ns; undefined for anything else, and for more than a day. */
export function parseServiceTime(value: string): number | undefined {
  const ns = parseDuration(value);
  return ns !== undefined && ns <= SERVICE_NS_MAX ? ns : undefined;
}

/** A number of tokens; undefined for anything else. */
export function parseTokenCount(value: string): number | undefined {
  const tokens = /^\d{1,7}$/.test(value) ? Number(value) : 0;
  return tokens >= 1 && tokens <= TOKENS_MAX ? tokens : undefined;
}

function split(value: string): readonly [string, string] {
  const colon = value.indexOf(':');
  return colon < 0 ? [value, ''] : [value.slice(0, colon), value.slice(colon + 1)];
}
