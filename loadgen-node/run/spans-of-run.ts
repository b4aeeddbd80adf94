import { messageOf } from '../../shared/base/errors/mlperf-error.ts';
import { confNameOf } from '../../shared/rules/benchmark-rules.ts';
import type { RecordedSet, TestObserver } from '../loadgen/engine/test-context.ts';
import type { ExportedSpans } from '../observe/spans/run-spans.ts';
import { QuerySpanIds } from '../observe/spans/span-ids.ts';
import type { RunHost } from './host/host.ts';
import type { RunReport } from './keep/run-report.ts';
import type { RunPlan } from './plan/run-plan.ts';
import { addressesOf } from './plan/target.ts';
import type { RunSut } from './run-sut.ts';

/** Observers of a run that receive what becomes spans. */
interface SpanObservers {
  readonly onPhase?: TestObserver['onPhase'];
  readonly onSet?: (set: RecordedSet) => void;
}

/**
 * Begins the spans of a run if its plan has them; undefined otherwise, and nothing of OpenTelemetry
 * is loaded.
 * @throws MlperfError `ERR_NOT_INSTALLED`, `ERR_CONFIG_INVALID` as `loadOtel`
 */
export async function beginSpans(plan: RunPlan, sut: Pick<RunSut, 'spanIds'>) {
  if (plan.otel === undefined) return undefined;
  const ids = sut.spanIds ?? new QuerySpanIds(plan.otel.share);
  const { RunSpans } = await import('../observe/spans/run-spans.ts');
  const spans = await RunSpans.open(ids, addressesOf(plan));
  const ofPlan = attributesOfPlan(plan);
  return {
    /** The run's observers, combined with those for spans. */
    observing({ onPhase, onSet }: SpanObservers): SpanObservers {
      return {
        onPhase: (phase) => {
          ids.turn(phase === 'performance');
          onPhase?.(phase);
        },
        onSet: (set) => {
          spans.keep(set);
          onSet?.(set);
        },
      };
    },
    async breakOff(error: unknown, host: RunHost): Promise<void> {
      tell(await spans.end({ attributes: ofPlan, failure: messageOf(error) }), host);
    },
    async end(report: RunReport, host: RunHost): Promise<void> {
      const attributes = { ...ofPlan, ...attributesOfReport(report) };
      tell(await spans.end({ attributes }), host);
    },
  };
}

function attributesOfPlan(plan: RunPlan) {
  const { rules, settings, round, labels, output, otel } = plan;
  return {
    'longhaul.benchmark': confNameOf(rules),
    'longhaul.scenario': settings.scenario,
    'longhaul.mode': settings.mode,
    'longhaul.round': round,
    'longhaul.nodes': addressesOf(plan),
    'longhaul.output': output,
    'longhaul.otel.sample': otel?.share ?? 0,
    ...Object.fromEntries(
      Object.entries(labels).map(([key, value]) => [`longhaul.label.${key}`, value]),
    ),
  };
}

function attributesOfReport({ outcome, summary }: RunReport) {
  const counts = outcome.performance?.counts;
  return {
    'longhaul.result': outcome.verdicts.longhaul.isValid ? 'VALID' : 'INVALID',
    'longhaul.sut_name': outcome.sutName,
    ...(summary !== null && {
      'longhaul.run_id': summary.runId,
      'longhaul.result': summary.result,
    }),
    ...(counts !== undefined && { 'longhaul.lost_samples': counts.lostSamples }),
  };
}

function tell({ url, spanCount, exportedCount, problem }: ExportedSpans, host: RunHost): void {
  if (problem === undefined) {
    host.report(`longhaul: ${spanCount} spans of the run went to ${url}`);
    return;
  }
  host.report(
    `longhaul: ${spanCount - exportedCount} of ${spanCount} spans did not go to ${url} (${problem}); ` +
      'the result is whole without them; OTEL_EXPORTER_OTLP_ENDPOINT says where to send them',
  );
}
