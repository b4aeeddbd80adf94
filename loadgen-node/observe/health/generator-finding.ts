import { causesOfLateness, type GeneratorHealth } from '../../loadgen/health/generator-health.ts';

/** What a run knows of LoadGen's own part in its result. */
export interface GeneratorFacts {
  readonly isGeneratorBound: boolean;
  readonly generatorBoundReason: string;
  /** Null where nobody watched the process. */
  readonly health: GeneratorHealth | null;
  /** LoadGen had a schedule to keep (Server, fixed intervals): it spins before a due time. */
  readonly hasSchedule: boolean;
}

/** The judgement of LoadGen's own part, as screen, report and comparison have it. */
export interface GeneratorFinding {
  readonly kind: 'bound' | 'disturbed' | 'clean';
  /** One sentence without its full stop; parts are joined by `; `. */
  readonly text: string;
}

/** Whether LoadGen was the limit, or was only disturbed, and by what. */
export function generatorFinding(facts: GeneratorFacts): GeneratorFinding {
  const { isGeneratorBound, generatorBoundReason, health, hasSchedule } = facts;
  if (isGeneratorBound) return { kind: 'bound', text: `generator-bound: ${generatorBoundReason}` };
  const causes = health === null ? [] : causesOfLateness(health, hasSchedule);
  if (causes.length === 0) return { kind: 'clean', text: 'not generator-bound' };
  return { kind: 'disturbed', text: `not generator-bound, but ${causes.join('; ')}` };
}
