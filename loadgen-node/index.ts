/**
 * longhaul as a library: docs/api.md. What is exported here, and the fields of these types, change
 * by semantic versioning; no other file of the package is to be imported.
 */

export {
  askOnce,
  type ChannelEvents,
  type ChannelPlace,
  type CompletedSample,
  type DispatchChannel,
  type DispatchSettings,
  type NamedNode,
  NetworkNames,
  type NodeName,
  nodeOfOneEnd,
  type OutgoingPart,
  OutstandingTable,
  type ProtocolDriver,
  type QdlNode,
} from '../qdl/index.ts';
export {
  addProtocol,
  type Preparation,
  type Protocol,
  type ProtocolTraits,
  type ProtocolWords,
} from '../qdl/protocols/index.ts';
export { MlperfError, type MlperfErrorCode } from '../shared/base/errors/mlperf-error.ts';
export { SCENARIOS, type Scenario } from '../shared/domain/scenario.ts';
export type {
  PayloadEncoding,
  Query,
  QuerySampleLibrary,
  ResponseSink,
  SampleFailure,
  SamplePayloads,
  ServiceTimes,
  SystemUnderTest,
} from '../shared/domain/system-under-test.ts';
export { BENCHMARK_KEYS, benchmarkRules } from '../shared/rules/benchmark-rules.ts';
export { ROUNDS, type Round } from '../shared/rules/rounds/rounds.ts';
export type { BenchmarkRules } from '../shared/rules/rows/benchmark-card.ts';
export { createQdl, type Qdl, type QdlOptions } from './api/create-qdl.ts';
export {
  type MemorySamples,
  openSamples,
  type SampleLibrary,
  type SampleOptions,
  samplesInMemory,
} from './api/sample-library.ts';
export type { AccuracyResult, TestListeners, TestOptions, TestResult } from './api/start-test.ts';
export { startTest, type TestParts } from './api/start-test.ts';
export type {
  Cause,
  CausedVerdict,
  RunProgress,
  TestOutcome,
  TestPhase,
  Verdict,
  VerdictReason,
} from './loadgen/engine/test-outcome.ts';
export type { ThresholdResult } from './observe/figures/condition.ts';
export { FIGURES, type FigureName, type RunFigures } from './observe/figures/figure-names.ts';
export type { StepFigures } from './observe/figures/step-figures.ts';
export type { NetworkAudit } from './observe/network-audit.ts';
export type { SampleRecords } from './observe/records/sample-records.ts';
export type { LoadTest, RunSummary } from './observe/summary/run-summary.ts';
