import { LoadableSets } from '../schedule/loadable-sets.ts';
import { PhaseTotals, writeFailures } from './phase-counts.ts';
import { runSet } from './run-set.ts';
import type { TestContext } from './test-context.ts';
import type { AccuracyOutcome } from './test-outcome.ts';

/** Issues every sample of the library, set by set, and logs all responses (LoadGen: RunAccuracyMode). */
export async function runAccuracy(context: TestContext): Promise<AccuracyOutcome> {
  const { parts, effective, loadgen, logs, sink, interruption } = context;
  logs.detail.message('Starting accuracy mode');
  sink.beginPhase();
  const sets = new LoadableSets('accuracy', effective, parts.qsl, loadgen);
  const totals = new PhaseTotals();
  let setsRun = 0;
  while (setsRun < sets.count && !totals.isBroken) {
    const set = sets.at(setsRun);
    const issued = await runSet(context, {
      phase: 'accuracy',
      set,
      setIndex: setsRun,
      setCount: sets.count,
    });
    if (issued === null) {
      const fault = sink.faultBetweenSets?.message ?? null;
      totals.breakOff(interruption.isInterrupted ? 'interrupted' : 'fault', fault);
      break;
    }
    setsRun += 1;
    totals.add(issued, sink.failures);
    await parts.qsl.unloadSamplesFromRam(set.sampleIndices);
  }
  writeFailures(logs.detail, sink.failures);
  const contractErrors = sink.contractErrors.takeCount();
  return { ...totals.outcome(contractErrors, sink.failures), setsRun, setCount: sets.count };
}
