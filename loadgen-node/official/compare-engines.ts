import { createReadStream, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import { asPlainText, counted, firstOf, formatNs } from '../../shared/base/text.ts';
import type { DriverEnd } from '../loadgen/engine/issue/issue-driver.ts';
import {
  isNumber,
  type ReadDetailLog,
  readDetailLog,
  recordOf,
} from '../loadgen/logs/read/detail-log.ts';
import { OWN_LOG_PREFIX, RUN_FILES } from '../loadgen/logs/read/run-folder.ts';

const MLPERF_PREFIX = /^mlperf_log_/;

/** Records that both LoadGens derive from the same settings, exactly. */
const EQUAL_KEY = /^(?:requested|effective)_|^generated_|^loaded_qsl_set$|^result_query_count$/;

const SETTING_KEY = /^(?:requested|effective)_/;

/** Records that LoadGen v4.0 does not write. */
const SINCE_V41 = /^(?:requested|effective)_sample_concatenate_permutation$/;

/** Figures measured by each with its own clock; in ns, or per second. */
const MEASURED_KEY = /^result_.*(?:latency|percentile|per_sec|duration|mean|min|max)/;

/** A record in both logs, or in only one. */
export interface ComparedRecord {
  readonly key: string;
  readonly cpp: unknown;
  readonly own: unknown;
}

/** Comparison of two engines on one run. */
export interface EngineComparison {
  readonly folder: string;
  /** Records that must be equal: number compared, and those that differ. */
  readonly comparedCount: number;
  readonly differing: readonly ComparedRecord[];
  /** Figures measured by two clocks. */
  readonly measured: readonly ComparedRecord[];
  /** `result_validity` of each: a run at the limit of a rule may be valid by one clock only. */
  readonly verdicts: ComparedRecord | undefined;
  /** True if both accuracy logs are byte-identical. */
  readonly hasSameAccuracyLog: boolean;
}

/**
 * Compares the logs of the C++ LoadGen with those of the engine that followed it, in the folder of
 * a run with `--engine cpp`.
 * @throws MlperfError `ERR_CONFIG_INVALID` if one of the logs is missing, `ERR_OUTPUT` if one
 *   cannot be read
 */
export async function compareEngines(folder: string): Promise<EngineComparison> {
  const own = (name: string): string => join(folder, name.replace(MLPERF_PREFIX, OWN_LOG_PREFIX));
  if (!existsSync(own(RUN_FILES.detail))) {
    throw configInvalid(
      `${folder} is not of a run by --engine cpp: it has no ${OWN_LOG_PREFIX}detail.txt`,
    );
  }
  const [cppLog, ownLog] = await Promise.all([
    readDetailLog(join(folder, RUN_FILES.detail)),
    readDetailLog(own(RUN_FILES.detail)),
  ]);
  const equal = equalRecords(cppLog, ownLog, EQUAL_KEY);
  const measured = recordsOf(cppLog, ownLog, MEASURED_KEY).filter(
    ({ key }) => !EQUAL_KEY.test(key),
  );
  return {
    folder,
    comparedCount: equal.length,
    differing: equal.filter(differs),
    verdicts: recordsOf(cppLog, ownLog, /^result_validity$/)[0],
    measured: measured.filter((one) => isNumber(one.cpp) && isNumber(one.own)),
    hasSameAccuracyLog: await haveSameBytes(
      join(folder, RUN_FILES.accuracy),
      own(RUN_FILES.accuracy),
    ),
  };
}

/**
 * The end of a test from LoadGen's log, and effective settings that differ from the requested ones.
 */
export async function readLogsOf(folder: string): Promise<Omit<DriverEnd, 'otherSamples'>> {
  const [detail, own] = await Promise.all(
    [RUN_FILES.detail, `${OWN_LOG_PREFIX}detail.txt`].map((name) =>
      readDetailLog(join(folder, name)),
    ) as [Promise<ReadDetailLog>, Promise<ReadDetailLog>],
  );
  const validity = recordOf({ detail }, 'result_validity');
  const all = equalRecords(detail, own, SETTING_KEY).filter(differs);
  // A setting missing in one of the logs may be in effect anyway.
  const isOther = ({ key, ...values }: ComparedRecord): boolean =>
    key.startsWith('effective_') && values.cpp !== undefined && values.own !== undefined;
  const other = all.filter(isOther);
  // A setting that was read differently also takes effect differently.
  const rest = other.length > 0 ? [] : all;
  return {
    isValid: validity === undefined ? undefined : validity === 'VALID',
    errors: errorsOf(detail),
    differences:
      rest.length === 0
        ? []
        : [`The C++ LoadGen logged other settings than were requested: ${inBoth(rest)}.`],
    otherSettings:
      other.length === 0
        ? null
        : {
            text: `The C++ LoadGen ran with other settings than were requested: ${inBoth(other)}.`,
            needed: firstOf(
              other.map(({ key, own: requested }) => `${key} ${shown(requested)}`),
              3,
            ),
            seen: firstOf(
              other.map(({ key, cpp }) => `${key} ${shown(cpp)}`),
              3,
            ),
          },
  };
}

function inBoth(records: readonly ComparedRecord[]): string {
  const texts = records.map(
    ({ key, cpp, own }) => `${key} ${shown(cpp)} (requested: ${shown(own)})`,
  );
  return firstOf(texts, 3);
}

function errorsOf({ errors, errorCount }: ReadDetailLog): string[] {
  const [first] = errors;
  if (first === undefined) return [];
  const text = asPlainText(String(first.value)).slice(0, 160);
  const which = `${first.key} in line ${first.line} of ${RUN_FILES.detail}: ${text}`;
  return [`The C++ LoadGen logged ${counted(errorCount, 'error')}, the first ${which}.`];
}

function equalRecords(cpp: ReadDetailLog, own: ReadDetailLog, key: RegExp): ComparedRecord[] {
  const isV40 = String(cpp.records.get('loadgen_version')?.value ?? '').startsWith('4.0 ');
  return recordsOf(cpp, own, key).filter(
    (one) => !(isV40 && one.cpp === undefined && SINCE_V41.test(one.key)),
  );
}

function differs({ cpp, own }: ComparedRecord): boolean {
  return JSON.stringify(textOf(cpp)) !== JSON.stringify(textOf(own));
}

function recordsOf(cpp: ReadDetailLog, own: ReadDetailLog, key: RegExp): ComparedRecord[] {
  const keys = new Set([...cpp.records.keys(), ...own.records.keys()]);
  return [...keys]
    .filter((one) => key.test(one) && !one.startsWith('longhaul_'))
    .map((one) => ({
      key: one,
      cpp: cpp.records.get(one)?.value,
      own: own.records.get(one)?.value,
    }));
}

/** JSON has no bigint. */
function textOf(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : (value ?? null);
}

async function haveSameBytes(one: string, other: string): Promise<boolean> {
  const missing = [one, other].find((path) => !existsSync(path));
  if (missing !== undefined) throw configInvalid(`${missing} is not there`);
  if (statSync(one).size !== statSync(other).size) return false;
  const rest = createReadStream(other)[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(one) as AsyncIterable<Buffer>) {
    while (held.length < chunk.length) {
      const next = await rest.next();
      if (next.done === true) return false;
      held = Buffer.concat([held, next.value as Buffer]);
    }
    if (!held.subarray(0, chunk.length).equals(chunk)) return false;
    held = held.subarray(chunk.length);
  }
  return held.length === 0 && (await rest.next()).done === true;
}

/** The comparison for people. */
export function comparisonText({
  comparedCount,
  differing,
  measured,
  verdicts,
  hasSameAccuracyLog,
}: EngineComparison): string {
  const lines = [
    `settings, sample sets, counts: ${comparedCount - differing.length} of ${comparedCount} records are equal`,
    ...differing.map(({ key, cpp, own }) => `  ${key}: C++ ${shown(cpp)}, longhaul ${shown(own)}`),
    ...(verdicts === undefined
      ? []
      : [`verdicts: C++ ${shown(verdicts.cpp)}, longhaul ${shown(verdicts.own)}`]),
    `accuracy logs: ${hasSameAccuracyLog ? 'the same bytes' : 'DIFFERENT'}`,
  ];
  if (measured.length > 0) {
    lines.push('figures, each by its own clock:');
    lines.push(
      ...measured.map(
        ({ key, cpp, own }) => `  ${key.padEnd(50)} ${figures(key, Number(cpp), Number(own))}`,
      ),
    );
  }
  return `${lines.join('\n')}\n`;
}

function shown(value: unknown): string {
  return value === undefined ? 'has none' : String(JSON.stringify(textOf(value))).slice(0, 100);
}

function figures(key: string, cpp: number, own: number): string {
  const text = (value: number): string => {
    if (key.endsWith('_count')) return String(value);
    return key.includes('per_sec') ? value.toFixed(2) : formatNs(value);
  };
  const difference = cpp === 0 ? '' : `, ${((100 * (own - cpp)) / cpp).toFixed(2)} %`;
  return `C++ ${text(cpp)}, longhaul ${text(own)}${difference}`;
}
