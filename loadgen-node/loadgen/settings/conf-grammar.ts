import { hasByteOrderMark } from '../../../shared/base/text.ts';
import { parseDouble, parseUint64 } from '../base/c-numbers.ts';

/** A value in a configuration file, and the line that last set it. */
export interface ConfEntry {
  readonly text: string;
  readonly line: number;
}

/** A line that LoadGen refuses. */
interface ConfLineError {
  readonly line: number;
  /** LoadGen's own words. */
  readonly loadgenText: string;
  /** The error and the correct form, for people. */
  readonly explanation: string;
}

/** A line that LoadGen silently ignores although it was meant to have an effect. */
export interface ConfLineNote {
  readonly line: number;
  readonly explanation: string;
}

/** Content of a configuration file. A file with any error is not used. */
export interface ParsedConf {
  readonly entries: ReadonlyMap<string, ConfEntry>;
  readonly errors: readonly ConfLineError[];
  readonly notes: readonly ConfLineNote[];
}

const WITH_MARK =
  'the file begins with a byte order mark, which LoadGen takes for a part of the first word: the line has no effect; ' +
  'save the file without the mark';

/** White space by C's isspace, which differs from JavaScript's. */
const WHITE_SPACE = /[ \t\r\v\f]+/;

/**
 * Parses mlperf.conf, user.conf or audit.config with LoadGen's grammar: tokens between white space,
 * `key = value`. The last of several values, and the last of several lines, wins. A lone `#` ends a
 * line unless a value is due or was read.
 */
export function parseConf(text: string): ParsedConf {
  const entries = new Map<string, ConfEntry>();
  const errors: ConfLineError[] = [];
  const notes: ConfLineNote[] = [];
  text.split('\n').forEach((lineText, index) => {
    const line = index + 1;
    const result = parseLine(lineText.split(WHITE_SPACE).filter((token) => token !== ''));
    if (result.value !== undefined) {
      entries.set(result.key, { text: result.value, line });
    }
    if (result.error !== undefined) {
      const { loadgenText, explanation } = result.error;
      const why = hasByteOrderMark(lineText) ? WITH_MARK : explanation;
      errors.push({ line, loadgenText: `${loadgenText}, line=${line}`, explanation: why });
    } else if (hasByteOrderMark(lineText)) {
      notes.push({ line, explanation: WITH_MARK });
    } else if (result.value === undefined && result.key !== '') {
      notes.push({ line, explanation: noteOnLoneKey(result.key) });
    }
  });
  return { entries, errors, notes };
}

interface LineResult {
  readonly key: string;
  readonly value: string | undefined;
  readonly error?: { readonly loadgenText: string; readonly explanation: string };
}

function parseLine(tokens: readonly string[]): LineResult {
  const [key, equals, ...values] = tokens;
  if (key === undefined || key === '#') return { key: '', value: undefined };
  if (equals === undefined || equals === '#') return { key, value: undefined };
  if (equals !== '=') {
    const explanation = `"${key}" must be followed by "=" between blanks, not by "${equals}"; right would be: ${key} = ${equals}`;
    return { key, value: undefined, error: { loadgenText: "expected 'key=value'", explanation } };
  }
  let value: string | undefined;
  for (const token of values) {
    if (parseUint64(token).length < token.length && parseDouble(token).length < token.length) {
      const loadgenText = 'value needs to be integer or double';
      return { key, value, error: { loadgenText, explanation: explainValue(key, token, value) } };
    }
    value = token;
  }
  return { key, value };
}

function explainValue(key: string, token: string, before: string | undefined): string {
  if (token.startsWith('#')) {
    const right = before === undefined ? `${key} = 1` : `${key} = ${before}`;
    return `a comment cannot follow "="; put it on a line of its own, right would be: ${right}`;
  }
  return `"${token}" is not a number; the value of ${key} must be one, such as 100, 0x10, 1.5 or 1e3`;
}

function noteOnLoneKey(key: string): string {
  const glued = /^([^=]+)=(.+)$/.exec(key);
  if (glued === null) return `"${key}" has no value and no effect`;
  return `"${key}" has no effect: "=" needs blanks around it, as in ${glued[1]} = ${glued[2]}`;
}

/**
 * The entry used for a key, as LoadGen finds it in one file: the first of `model.scenario.key`,
 * `*.scenario.key`, `model.*.key`, `*.*.key`. Note the order: a line for all models in one scenario
 * wins over one for a single model in all scenarios.
 */
export function lookUp(
  conf: ParsedConf,
  model: string,
  scenario: string,
  key: string,
): ConfEntry | undefined {
  const { entries } = conf;
  return (
    entries.get(`${model}.${scenario}.${key}`) ??
    entries.get(`*.${scenario}.${key}`) ??
    entries.get(`${model}.*.${key}`) ??
    entries.get(`*.*.${key}`)
  );
}
