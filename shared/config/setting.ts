import { z } from 'zod';
import { DURATION_PATTERN, parseDuration } from '../base/text.ts';
import { hasScheme, NODE_NAME_LENGTH_MAX, splitAddress } from '../domain/node-address.ts';
import {
  type AddressScheme,
  type AddressSchemes,
  isNodeAddress,
  NODE_MESSAGE,
  wrongAddress,
} from './address-scheme.ts';

/**
 * One setting of a verb: both a key of the configuration file and a flag. Flags, help, checks, JSON
 * Schema and `longhaul config show` are all generated from the tables of settings, so each setting
 * exists in all of them.
 */
export interface Setting<T> {
  readonly help: string;
  /** Placeholder of the value in `--help`, without brackets; empty for a flag without a value. */
  readonly placeholder: string;
  /** Checks a value in file form and converts it for the program. */
  readonly schema: z.ZodType<T>;
  /** Flag name as a key, if it differs from the setting's: `threshold` for `thresholds`. */
  readonly flagKey?: string;
  /** True for a list: a repeated flag adds to it. */
  readonly isList?: boolean;
  /** True for a flag with a negative form: `--no-extend-until-decided`. */
  readonly isDeniable?: boolean;
  /**
   * True if a text or number in a file is parsed like the flag's: one value for a list, a word in
   * any case.
   */
  readonly readsAsFlag?: boolean;
  /** The allowed words. */
  readonly words?: readonly string[];
  /** Converts a flag's text to file form. */
  readonly fromFlag: (text: string) => unknown;
  /** Default in file form; undefined: the setting may be absent. */
  readonly fallback: unknown;
  /** Default derived from other settings, by key; undefined: {@link fallback} applies. */
  readonly fallbackFrom?: (rawOf: (key: string) => unknown) => unknown;
  /** True if a run needs it and there is no default. */
  readonly isRequired: boolean;
}

/** Settings of a verb by key: camelCase in files, kebab-case in flags. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

/** Values of a table's settings, as the program uses them. */
export type SettingValues<T extends SettingTable> = {
  readonly [K in keyof T]: T[K] extends Setting<infer V> ? V : never;
};

/** The settings of a table that another verb shares. */
export function pick<T extends SettingTable, K extends keyof T & string>(
  table: T,
  ...keys: readonly K[]
): Pick<T, K> {
  // Exactly these keys.
  return Object.fromEntries(keys.map((key) => [key, table[key]])) as Pick<T, K>;
}

/** An optional setting without a default may be absent. */
type Options<F> = { readonly fallback?: F; readonly required?: boolean };

type Given<T, O> = O extends { readonly fallback: unknown } | { readonly required: true }
  ? T
  : T | undefined;

/** Hints for expected but wrong words, by the word in lower case. */
type Hints = { readonly hints?: Readonly<Record<string, string>> };

type NoOptions = Record<never, never>;

/** Properties shared by settings of one kind. */
type Kind<T> = Pick<
  Setting<T>,
  'placeholder' | 'schema' | 'fromFlag' | 'isList' | 'readsAsFlag' | 'words'
>;

function setting<T, const O extends Options<unknown>>(
  kind: Kind<T>,
  help: string,
  options: O | undefined,
): Setting<Given<T, O>> {
  const { fallback, required: isRequired = false } = options ?? {};
  const mayBeAbsent = fallback === undefined && !isRequired;
  const schema = mayBeAbsent ? kind.schema.optional() : kind.schema;
  return { ...kind, schema, help, fallback, isRequired } as Setting<Given<T, O>>; // As Given says.
}

/** Makes a constructor for settings of one kind. `Raw` is a value in file form. */
function kindOf<T, Raw>(
  placeholder: string,
  fromFlag: (text: string) => unknown,
  schema: z.ZodType<T>,
  more: Pick<Kind<T>, 'isList' | 'readsAsFlag'> = {},
) {
  const kind = { placeholder, fromFlag, schema, ...more };
  return <const O extends Options<Raw> = NoOptions>(help: string, options?: O) =>
    setting(kind, help, options);
}

const asText = (text: string): unknown => text;
const asNumber = (text: string): unknown =>
  text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
const asTexts = (text: string): unknown => text.split(',').map((part) => part.trim());
const asNumbers = (text: string): unknown => text.split(',').map(asNumber);

/** A list; a file may give a single value instead. */
const LIST = { isList: true, readsAsFlag: true } as const;

/** Matches a word in any case, with or without hyphens; other texts stay unchanged. */
function asWordOf(words: readonly string[]): (text: string) => string {
  const plain = (text: string): string => text.toLowerCase().replace(/[-_ ]/g, '');
  return (text) => words.find((word) => plain(word) === plain(text)) ?? text;
}

const textSchema = z
  .string({
    error: ({ input }) =>
      input === null
        ? "must be a text; YAML reads null as a missing value: write 'null' in quotes for the word"
        : 'must be a text',
  })
  .trim()
  .min(1, 'must not be empty')
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');

/** Any text that is not empty. */
export function text<const O extends Options<string> = NoOptions>(
  placeholder: string,
  help: string,
  options?: O,
) {
  return setting({ placeholder, schema: textSchema, fromFlag: asText }, help, options);
}

/** Texts that are not empty and have no comma: a list in a file, separated by commas in a flag. */
export function textList(placeholder: string, help: string) {
  const schema = z.array(textSchema, 'must be a list of texts').min(1, 'must name at least one');
  return setting({ placeholder, schema, fromFlag: asTexts, ...LIST }, help, {});
}

/** On or off: `true` or `false` in a file, a flag without a value on the command line. */
export function toggle(help: string): Setting<boolean> {
  const schema = z.boolean('must be true or false');
  return setting({ placeholder: '', schema, fromFlag: () => true }, help, { fallback: false });
}

/** On or off by `--name` and `--no-name`; without either, other settings decide. */
export function deniable(help: string): Setting<boolean | undefined> {
  const schema = z.boolean('must be true or false');
  const fromFlag = (said: unknown): unknown => String(said) !== 'false';
  return { ...setting({ placeholder: '', schema, fromFlag }, help, {}), isDeniable: true };
}

/**
 * LoadGen that issues the queries: longhaul's own, or a linked C++ LoadGen, by name if there are
 * several.
 */
export const engineName = kindOf<string, string>(
  'longhaul|cpp[:name]',
  (text) => text.replace(/^(?:longhaul|cpp)/i, (word) => word.toLowerCase()),
  z
    .string('must be a text')
    .regex(
      /^(?:longhaul|cpp(?::[\w.-]+)?)$/,
      'must be longhaul, cpp, or cpp:NAME with a name of "longhaul loadgen list", such as cpp:v4.1',
    ),
);

/** Name of a SUT node that a LoadGen node accepts: names are joined with commas, so it has none. */
export const nodeName = kindOf<string, string>(
  'name',
  asText,
  textSchema
    .refine((name) => !name.includes(','), 'must not hold a comma')
    .refine(
      (name) => name.length <= NODE_NAME_LENGTH_MAX,
      `must have ${NODE_NAME_LENGTH_MAX} characters at most`,
    ),
);

/** One of a few words. */
export function choice<
  const T extends readonly [string, ...string[]],
  const O extends Options<T[number]> & Hints = NoOptions,
>(words: T, help: string, options?: O): Setting<Given<T[number], O>> {
  const { hints = {} } = options ?? {};
  const schema = z.enum(words, {
    error: ({ input }) => {
      const hint = hints[String(input).toLowerCase()];
      return `must be one of: ${words.join(', ')}${hint === undefined ? '' : `; ${hint}`}`;
    },
  });
  const kind = { placeholder: words.join('|'), schema, words, readsAsFlag: true };
  return setting({ ...kind, fromFlag: asWordOf(words) }, help, options);
}

/** Some of a few words: a list in a file, separated by commas in a flag. */
export function choiceList<
  const T extends readonly [string, ...string[]],
  const O extends Options<T[number][]> = NoOptions,
>(words: T, help: string, options?: O): Setting<Given<T[number][], O>> {
  const message = `must be a list of: ${words.join(', ')}`;
  const schema = z
    .array(z.enum(words, { error: message }), message)
    .min(1, message)
    .refine((list) => new Set(list).size === list.length, 'must not name a word twice');
  const asWord = asWordOf(words);
  const fromFlag = (text: string): unknown => text.split(',').map((part) => asWord(part.trim()));
  const kind = { placeholder: 'name[,name...]', schema, words, ...LIST };
  return setting({ ...kind, fromFlag }, help, options);
}

/** A whole number in a range. */
export function count<const O extends Options<number> = NoOptions>(
  range: { readonly min: number; readonly max: number },
  help: string,
  options?: O,
) {
  const schema = z
    .int(`must be a whole number from ${range.min} to ${range.max}`)
    .min(range.min, `must be ${range.min} or more`)
    .max(range.max, `must be ${range.max} or less`);
  return setting({ placeholder: 'n', schema, fromFlag: asNumber }, help, options);
}

/** A whole number in a range, or `auto`, which is the default. */
export function countOrAuto(range: { readonly min: number; readonly max: number }, help: string) {
  const message = `must be auto, or a whole number from ${range.min} to ${range.max}`;
  const schema = z.union(
    [z.literal('auto'), z.int().min(range.min, message).max(range.max, message)],
    {
      error: message,
    },
  );
  const kind = { placeholder: 'auto|n', schema, fromFlag: asNumber };
  return setting(kind, help, { fallback: 'auto' });
}

const aboveZero = z.number('must be a number above 0').positive('must be a number above 0');

/** A number above 0. */
export const positiveNumber = kindOf<number, number>('n', asNumber, aboveZero);

/** Numbers above 0: a list in a file, separated by commas in a flag. */
export const numberList = kindOf<number[], number[]>(
  'n[,n...]',
  asNumbers,
  z.array(aboveZero, 'must be a list of numbers, for example [2, 1]').min(1),
  LIST,
);

/** Whole numbers in a range: a list in a file, separated by commas in a flag. */
export function countList<const O extends Options<number[]> = NoOptions>(
  range: { readonly min: number; readonly max: number },
  help: string,
  options?: O,
) {
  const one = count(range, help, { required: true }).schema; // No item of a list is absent.
  const schema = z
    .array(one, 'must be a list of whole numbers, for example [4, 8]')
    .min(1, 'must name at least one number')
    .refine((list) => new Set(list).size === list.length, 'must not name a number twice');
  const kind = { placeholder: 'n[,n...]', schema, fromFlag: asNumbers, ...LIST };
  return setting(kind, help, options);
}

/** `50%` is `50`. */
function asPercent(text: string): unknown {
  return asNumber(text.replace(/%$/, ''));
}

/** A percentage above 0 and below 100; the program gets the fraction. */
export const percentile = kindOf<number, number>(
  'percent',
  asPercent,
  z
    .number('must be a percentage above 0 and below 100')
    .gt(0, 'must be above 0')
    .lt(100, 'must be below 100')
    .transform((percent) => percent / 100),
);

const SHARE_MESSAGE = 'must be a percentage from 0 to 100';

/** A percentage from 0 to 100, both included. */
export const share = kindOf<number, number>(
  'percent',
  asPercent,
  z.number(SHARE_MESSAGE).min(0, SHARE_MESSAGE).max(100, SHARE_MESSAGE),
);

const UNIT_MESSAGE = 'must be a number from 0.0001 to 1';

/** A share from 0.0001 to 1. */
export const unitShare = kindOf<number, number>(
  'n',
  asNumber,
  z.number(UNIT_MESSAGE).min(0.0001, UNIT_MESSAGE).max(1, UNIT_MESSAGE),
);

/** Longest delay of a Node.js timer, 2^31 - 1 ms; with a longer one it would fire at once. */
const DURATION_NS_MAX: number = (2 ** 31 - 1) * 1e6;

const durationSchema = z
  .string('must be a duration such as 10s, 15ms or 250us')
  .regex(DURATION_PATTERN, 'must be a duration such as 10s, 15ms or 250us')
  .transform((value) => parseDuration(value) ?? 0)
  .refine((ns) => ns <= DURATION_NS_MAX, 'must be at most 596h, the longest timer');

/** A length of time such as `10s` or `15ms`; the program gets ns. */
export const duration = kindOf<number, string>('duration', asText, durationSchema);

/** A length of time above 0. */
export const positiveDuration = kindOf<number, string>(
  'duration',
  asText,
  durationSchema.refine((ns) => ns > 0, 'must be longer than 0'),
);

const LISTEN_MESSAGE =
  'must be host:port, or :port or port for 127.0.0.1 alone, for example 0.0.0.0:50051 or :8080';

const withHost = (value: string): string => value.trim().replace(/^:?(?=\d+$)/, '127.0.0.1:');

type HostAndPort = NonNullable<ReturnType<typeof splitAddress>>;

/** An address to listen on; port 0 takes a free port. Default host: loopback. */
export const listenAddress = kindOf<HostAndPort, string>(
  '[host:]port',
  asText,
  z
    .string(LISTEN_MESSAGE)
    .refine((value) => splitAddress(withHost(value)) !== undefined, LISTEN_MESSAGE)
    .transform((value) => splitAddress(withHost(value)) ?? { host: '', port: 0 }),
  { readsAsFlag: true },
);

const NO_SCHEMES: AddressSchemes = { known: () => [], areTaken: false };

/**
 * Addresses to connect to, `host:port` or `dns:///name:port`: a list in a file, separated by commas
 * in a flag.
 * @param help A function, called when help is shown: a program may have added schemes by then.
 */
export function addressList<
  const O extends Options<string[]> & { readonly schemes?: AddressSchemes } = NoOptions,
>(help: string | (() => string), options?: O) {
  const { known, areTaken } = options?.schemes ?? NO_SCHEMES;
  const schemeOf = (value: string): AddressScheme | undefined =>
    known().find(({ scheme }) => hasScheme(value, scheme));
  const without = (value: string): string =>
    value.slice(schemeOf(value) ? value.indexOf('://') + 3 : 0);
  const one = z
    .string(NODE_MESSAGE)
    .trim()
    // Report a bad address before the duplicate check.
    .refine((value) => areTaken || schemeOf(value) === undefined, {
      error: ({ input }) => schemeOf(String(input))?.notHere ?? NODE_MESSAGE,
      abort: true,
    })
    .refine((value) => isNodeAddress(without(value).replace(/^dns:\/\/\//, '')), {
      error: ({ input }) => wrongAddress(String(input), areTaken ? known() : []),
      abort: true,
    });
  const schema = z
    .array(one, 'must be a list, for example [10.0.0.2:50051, 10.0.0.3:50051]')
    .min(1, 'must name at least one host:port')
    .refine((list) => new Set(list.map((each) => schemeOf(each)?.scheme)).size <= 1, {
      error: ({ input }) => {
        const { scheme } = (input as string[]).map(schemeOf).find((one) => one) as AddressScheme;
        return `must use one protocol: put ${scheme}:// before every address of the list, or before none`;
      },
    })
    .refine((list) => new Set(list).size === list.length, 'must not name an address twice');
  const placeholder = (): string => {
    const schemes = areTaken ? known().map(({ scheme }) => `${scheme}://`) : [];
    return schemes.length > 0
      ? `[${schemes.join('|')}]host:port[,...]`
      : 'host:port[,host:port...]';
  };
  const made = setting({ placeholder: '', schema, fromFlag: asTexts, ...LIST }, '', options);
  return Object.defineProperties(made, {
    placeholder: { get: placeholder },
    help: { get: () => (typeof help === 'string' ? help : help()) },
  });
}

/** Key of a table as a flag: `targetQps` → `--target-qps`. */
export function flagOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
