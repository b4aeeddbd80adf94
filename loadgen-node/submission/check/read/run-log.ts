import { posix } from 'node:path';
import {
  type DetailRecord,
  MARKED_BYTE_ORDER,
  type ReadDetailLog,
} from '../../../loadgen/logs/read/detail-log.ts';
import { RUN_FILES } from '../../../loadgen/logs/read/run-folder.ts';
import { type RoundSeeds, SEED_NAMES } from '../../rules/round-seeds.ts';
import type { FindingId } from '../rules/finding-rules.ts';
import type { Findings } from '../rules/findings.ts';
import type { CheckContext } from './check-context.ts';

/** A detail log of a tree, with what every check asks of it. What is missing is told once, when it is asked for. */
export class RunLog {
  /** Relative to the root of the tree. */
  readonly file: string;
  readonly #log: ReadDetailLog;
  readonly #findings: Findings;

  constructor(file: string, log: ReadDetailLog, findings: Findings) {
    this.file = file;
    this.#log = log;
    this.#findings = findings;
  }

  record(key: string): DetailRecord | undefined {
    return this.#log.records.get(key);
  }

  /** False for a log that is cut or damaged: it may lack what LoadGen wrote. */
  get isWhole(): boolean {
    return this.#log.damageCount === 0;
  }

  /** Every record of longhaul's own with this key: a run over several nodes has one of each. */
  ownRecords(key: string): readonly DetailRecord[] {
    return this.#log.ownRecords.filter((record) => record.key === key);
  }

  keys(): IterableIterator<string> {
    return this.#log.records.keys();
  }

  /** Text of a record; undefined where there is none. Told where it has to be there. */
  text(key: string): string | undefined {
    const record = this.#needed(key);
    return record === undefined ? undefined : String(record.value);
  }

  /** Text of a record that may be missing. */
  optionalText(key: string): string | undefined {
    const record = this.record(key);
    return record === undefined ? undefined : String(record.value);
  }

  /** Number of a record that has to be there; undefined where there is none, which is told. */
  number(key: string): number | undefined {
    const record = this.#needed(key);
    if (record === undefined) return undefined;
    const { value, line } = record;
    if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
    this.tell('record-not-number', `${key} is ${JSON.stringify(value)}, which is no number.`, line);
    return undefined;
  }

  /** Number of a record that may be missing. */
  optionalNumber(key: string): number | undefined {
    const value = this.record(key)?.value;
    return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
  }

  /** True, false, or undefined where a record that may be missing is neither. */
  boolean(key: string): boolean | undefined {
    const value = this.record(key)?.value;
    return typeof value === 'boolean' ? value : undefined;
  }

  /** Holds the three seeds against those of the round. @param isNeeded False: a log may lack them. */
  checkSeeds(seeds: RoundSeeds, wrong: FindingId, isNeeded: boolean): void {
    for (const name of SEED_NAMES) {
      const key = `effective_${name}`;
      const record = isNeeded ? this.#needed(key) : this.record(key);
      if (record === undefined) continue;
      const { value, line } = record;
      const expected = seeds[name];
      if (typeof value !== 'number' && typeof value !== 'bigint') {
        this.tell('record-not-number', `${key} is ${JSON.stringify(value)}, no number.`, line);
      } else if (!isWhole(value) || BigInt(value) !== expected) {
        const id = Number(value) === Number(expected) ? 'seed-rounded' : wrong;
        this.tell(id, `${key} is ${value}, not ${expected}.`, line);
      }
    }
  }

  tell(id: FindingId, seen: string, line?: number): void {
    this.#findings.add(id, this.file, seen, line);
  }

  /** Tells of a record, with its line. */
  tellOf(id: FindingId, key: string, seen: string): void {
    this.tell(id, seen, this.record(key)?.line);
  }

  #needed(key: string): DetailRecord | undefined {
    const record = this.record(key);
    if (record === undefined) this.tell('record-missing', `It has no record of ${key}.`);
    return record;
  }
}

/**
 * Reads the detail log of a folder and tells what is wrong with the file itself.
 * @returns Undefined where there is no log, or nothing in it: that is told, and nothing else need be.
 */
export async function readRunLog(
  context: CheckContext,
  folder: string,
): Promise<RunLog | undefined> {
  const { listing, findings, logs } = context;
  const file = posix.join(folder, RUN_FILES.detail);
  if (!listing.hasFile(file)) return undefined;
  const log = await logs.read(file).catch((error: unknown) => {
    findings.add('no-plain-file', file, `It cannot be read: ${wholeMessage(error)}.`);
  });
  if (log === undefined) return undefined;
  tellDamages(log, file, findings);
  if (log.records.size === 0) {
    findings.add('log-empty', file, `It has ${log.lineCount} line(s) and no record.`);
    return undefined;
  }
  if (!log.beginsWithRecord && !log.damages.some(({ text }) => text === MARKED_BYTE_ORDER)) {
    findings.add('log-first-line', file, 'Its first line is no record.', 1);
  }
  for (const { key, value, line } of log.repeats) {
    const first = log.records.get(key);
    const text = `${key} is ${String(value)}, and in line ${first?.line} ${String(first?.value)}.`;
    findings.add('record-twice', file, text, line);
  }
  for (const { key, value, line } of log.errors) {
    findings.add('error-in-log', file, `${key}: ${String(value)}.`, line);
  }
  return new RunLog(file, log, findings);
}

/** Damages with a rule of their own. */
const DAMAGES: Readonly<Record<string, FindingId>> = {
  'the file ends inside a record': 'log-cut',
  [MARKED_BYTE_ORDER]: 'log-first-line',
};

function tellDamages({ damages }: ReadDetailLog, file: string, findings: Findings): void {
  for (const { line, text } of damages) {
    findings.add(DAMAGES[text] ?? 'log-damaged', file, `In line ${line}, ${text}.`, line);
  }
}

/** Message of anything thrown, with all its lines. */
export function wholeMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isWhole(value: number | bigint): boolean {
  return typeof value === 'bigint' || Number.isInteger(value);
}
