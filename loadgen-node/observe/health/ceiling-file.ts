import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus, release, type } from 'node:os';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { type LatenessFacts, latenessInWords } from '../../loadgen/engine/causes.ts';
import type { PerformanceOutcome } from '../../loadgen/engine/test-outcome.ts';
import {
  causesOfLateness,
  GENERATOR_CEILING,
  type GeneratorCeiling,
} from '../../loadgen/results/generator-health.ts';

const FILE_NAME = 'generator-ceiling.json';

/** Versions, Node flags, kernel and processor; a ceiling is valid only for the same ones. */
export function ceilingBasis(): string {
  const processors = cpus();
  const flags = process.execArgv.filter((flag) => flag.startsWith('--')).sort();
  return [
    `longhaul ${packageVersion()}`,
    `Node ${process.version}${flags.length === 0 ? '' : ` ${flags.join(' ')}`}`,
    `${type()} ${release()}`,
    `${processors.length} x ${processors[0]?.model.trim() || 'unknown processor'}`,
  ].join(', ');
}

/**
 * The ceiling of LoadGen on this machine, measured by `longhaul doctor`; null if there is none for
 * this version, kernel and processor, or if its file is damaged. Reads one small file.
 */
export function readCeiling(cacheFolder: string): GeneratorCeiling | null {
  try {
    const text = readFileSync(join(cacheFolder, FILE_NAME), 'utf8');
    const ceiling = GENERATOR_CEILING.parse(JSON.parse(text));
    const { measuredOn, inProcessQps, loopbackQps } = ceiling;
    const isUsable = measuredOn === ceilingBasis() && Math.min(inProcessQps, loopbackQps) > 0;
    return isUsable ? ceiling : null;
  } catch {
    // Never measured, or truncated while being written: measuring again solves both.
    return null;
  }
}

/**
 * Stores a ceiling. Returns its file.
 * @throws MlperfError `ERR_CACHE` if the folder cannot be written
 */
export function writeCeiling(cacheFolder: string, ceiling: GeneratorCeiling): string {
  const path = join(cacheFolder, FILE_NAME);
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(cacheFolder, { recursive: true });
    writeFileSync(draft, `${JSON.stringify(ceiling, null, 2)}\n`);
    renameSync(draft, path);
  } catch (cause) {
    throw new MlperfError('ERR_CACHE', `cannot write the generator ceiling to ${path}`, { cause });
  }
  return path;
}

/** Judgement of LoadGen's own part, for screen, report and comparison. */
export interface GeneratorFinding {
  readonly kind: 'bound' | 'disturbed' | 'clean';
  /** Text after "LoadGen was"; no full stop. Causes are joined by `; `. */
  readonly text: string;
  /** The text without causes. */
  readonly head: string;
  readonly causes: readonly string[];
}

type GeneratorFacts = LatenessFacts &
  Pick<PerformanceOutcome, 'isGeneratorBound' | 'generatorBoundReason' | 'health'>;

/** Finds whether LoadGen was the limit, or only disturbed, and why. */
export function generatorFinding(
  performance: GeneratorFacts,
  hasSchedule: boolean,
): GeneratorFinding {
  const { isGeneratorBound, generatorBoundReason, health } = performance;
  if (isGeneratorBound) {
    const head = `${latenessInWords(performance)} (generator-bound)`;
    const causes = generatorBoundReason.split('; ');
    return { kind: 'bound', text: `${head}: ${generatorBoundReason}`, head, causes };
  }
  return disturbanceFinding(health, hasSchedule);
}

/**
 * Finds whether a LoadGen that was not the limit was disturbed, and by what.
 * @param hasSchedule True if LoadGen kept a schedule (Server, fixed intervals): it then spins
 *   before a due time.
 */
export function disturbanceFinding(
  health: PerformanceOutcome['health'],
  hasSchedule: boolean,
): GeneratorFinding {
  const causes = health === null ? [] : causesOfLateness(health, hasSchedule);
  const head = 'not the limit';
  if (causes.length === 0) return { kind: 'clean', text: head, head, causes };
  return { kind: 'disturbed', text: `${head}, but ${causes.join('; ')}`, head, causes };
}
