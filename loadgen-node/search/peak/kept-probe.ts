import type { RecordedSet } from '../../loadgen/engine/test-context.ts';
import type { PerformanceOutcome, TestOutcome } from '../../loadgen/engine/test-outcome.ts';
import type { RunFigures } from '../../observe/figures/figure-names.ts';
import { figuresOfOutcome } from '../../observe/figures/figures-of-outcome.ts';
import { recordsOfSet } from '../../observe/records/records-of-set.ts';
import { latencySplit } from '../../observe/split/latency-split.ts';
import type { ProbeEnd, ProbeOutcome } from './probe.ts';

/** Takes what a search needs of a probe's records, as long as they are there. */
export class KeptProbe {
  #latenciesNs: Float64Array = new Float64Array();
  #explanation: string | undefined;

  /** Of a run that is extended the parts are one after the other. */
  readonly keep = (set: RecordedSet): void => {
    const earlier = this.#latenciesNs;
    const added = set.recorder.completedQueryLatenciesNs();
    this.#latenciesNs = new Float64Array(earlier.length + added.length);
    this.#latenciesNs.set(earlier);
    this.#latenciesNs.set(added, earlier.length);
    this.#explanation = latencySplit(recordsOfSet(set))?.text;
  };

  /**
   * What the probe saw.
   * @param folder Where its logs lie; undefined: they are not kept.
   * @param lagNsMax Of a short probe: p99 of the dispatch lag above which LoadGen was too slow. That a verdict on so few queries
   *   would flip says nothing.
   */
  outcome(outcome: TestOutcome, folder: string | undefined, lagNsMax?: number): ProbeOutcome {
    const { performance, verdicts, isInterrupted } = outcome;
    const end = endOf(performance, isInterrupted);
    const figures: RunFigures = performance === null ? {} : figuresOfOutcome(performance);
    const { lag_p99: lagP99Ns = 0 } = figures;
    return {
      latenciesNs: this.#latenciesNs,
      end: lagNsMax === undefined ? end : { ...end, isGeneratorBound: lagP99Ns > lagNsMax },
      samplesPerSecond: figures.completed_qps ?? 0,
      scheduledPerSecond: figures.scheduled_qps ?? null,
      isValid: verdicts.longhaul.isValid,
      reasons: verdicts.longhaul.reasons,
      explanation: this.#explanation,
      folder,
    };
  }
}

function endOf(performance: PerformanceOutcome | null, isInterrupted: boolean): ProbeEnd {
  if (performance === null) {
    return {
      endCause: isInterrupted ? 'interrupted' : 'fault',
      counts: { lostSamples: 0, issuedSamples: 0 },
      durationNs: 0,
      isGeneratorBound: false,
      generatorBoundReason: '',
      faultText: 'the SUT broke before the first query',
    };
  }
  const { endCause, counts, durationNs, isGeneratorBound, generatorBoundReason } = performance;
  const faultText = performance.faultText ?? performance.failures[0]?.texts[0]?.text ?? null;
  return { endCause, counts, durationNs, isGeneratorBound, generatorBoundReason, faultText };
}
