/**
 * longhaul as a library: docs/api.md. What is exported here, and the fields of these types, change by semantic versioning; no other
 * file of the package is to be imported.
 */

export type { BenchmarkRules } from '../shared/benchmarks/benchmark-row.ts';
export { BENCHMARK_KEYS, benchmarkRules } from '../shared/benchmarks/benchmark-rules.ts';
export { ROUNDS, type Round } from '../shared/benchmarks/rounds.ts';
export type {
  PayloadEncoding,
  QuerySampleLibrary,
  SamplePayloads,
} from '../shared/domain/query-sample-library.ts';
export { SCENARIOS, type Scenario } from '../shared/domain/scenario.ts';
export type {
  Query,
  ResponseSink,
  SampleFailure,
  ServiceTimes,
  SystemUnderTest,
} from '../shared/domain/system-under-test.ts';
export { MlperfError, type MlperfErrorCode } from '../shared/errors/mlperf-error.ts';
export { createQdl, type Qdl, type QdlOptions } from './api/create-qdl.ts';
export {
  type MemorySamples,
  openSamples,
  type SampleLibrary,
  type SampleOptions,
  samplesInMemory,
} from './api/sample-library.ts';
export { startTest, type TestParts } from './api/start-test.ts';
export type { TestListeners } from './api/test-events.ts';
export type { AccuracyResult, TestResult } from './api/test-result.ts';
export type { TestOptions } from './api/test-settings.ts';
export type { NetworkAudit } from './audit/network-audit.ts';
export type {
  RunProgress,
  TestOutcome,
  TestPhase,
  Verdict,
  VerdictReason,
} from './engine/test-outcome.ts';
export { FIGURES, type FigureName, type RunFigures } from './records/figure-names.ts';
export type { LoadTest, RunSummary } from './records/run-summary.ts';
export type { SampleRecords } from './records/sample-records.ts';
export type { StepFigures } from './records/step-figures.ts';
export type { ThresholdResult } from './thresholds/judge-thresholds.ts';
