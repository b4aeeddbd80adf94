import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus, release, type } from 'node:os';
import { join } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import type { PerformanceOutcome } from '../../loadgen/engine/test-outcome.ts';
import {
  causesOfLateness,
  GENERATOR_CEILING,
  type GeneratorCeiling,
} from '../../loadgen/results/generator-health.ts';

const FILE_NAME = 'generator-ceiling.json';

/** Versions, flags of Node, kernel and processor. With others a ceiling is void. */
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
 * The ceiling of this machine's LoadGen that `longhaul doctor` has measured; null where there is none that holds for this
 * version, kernel and processor. Reads one small file; null for a damaged one.
 */
export function readCeiling(cacheFolder: string): GeneratorCeiling | null {
  try {
    const text = readFileSync(join(cacheFolder, FILE_NAME), 'utf8');
    const ceiling = GENERATOR_CEILING.parse(JSON.parse(text));
    const { measuredOn, inProcessQps, loopbackQps } = ceiling;
    const isUsable = measuredOn === ceilingBasis() && Math.min(inProcessQps, loopbackQps) > 0;
    return isUsable ? ceiling : null;
  } catch {
    // Never measured, or cut off while it was written: measuring again mends both.
    return null;
  }
}

/**
 * Keeps a ceiling. Returns its file.
 * @throws MlperfError `ERR_CACHE` where the folder cannot be written
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

/** The judgement of LoadGen's own part, as screen, report and comparison have it. */
export interface GeneratorFinding {
  readonly kind: 'bound' | 'disturbed' | 'clean';
  /** Stands behind "LoadGen was"; without full stop. Its causes are joined by `; `. */
  readonly text: string;
  /** The text without its causes. */
  readonly head: string;
  readonly causes: readonly string[];
}

type GeneratorFacts = 'isGeneratorBound' | 'generatorBoundReason' | 'health';

/**
 * Whether LoadGen was the limit, or was only disturbed, and by what.
 * @param hasSchedule LoadGen had a schedule to keep (Server, fixed intervals): it spins before a due time.
 */
export function generatorFinding(
  { isGeneratorBound, generatorBoundReason, health }: Pick<PerformanceOutcome, GeneratorFacts>,
  hasSchedule: boolean,
): GeneratorFinding {
  if (isGeneratorBound) {
    const head = 'too slow for this load (generator-bound)';
    const causes = generatorBoundReason.split('; ');
    return { kind: 'bound', text: `${head}: ${generatorBoundReason}`, head, causes };
  }
  const causes = health === null ? [] : causesOfLateness(health, hasSchedule);
  const head = 'not the limit';
  if (causes.length === 0) return { kind: 'clean', text: head, head, causes };
  return { kind: 'disturbed', text: `${head}, but ${causes.join('; ')}`, head, causes };
}
