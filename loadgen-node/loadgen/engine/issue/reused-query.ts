import type { Query } from '../../../../shared/domain/system-under-test.ts';
import type { QueryPlan } from '../../schedule/query-plan.ts';

/** The set's one query object, refilled for each query. */
export class ReusedQuery implements Query {
  id = 0;
  firstResponseId = 0;
  readonly sampleIndices: Uint32Array;
  sampleOffset = 0;
  sampleCount: number;
  readonly responseIdStride: number;

  constructor(plan: QueryPlan, threadCount: number) {
    this.sampleIndices = plan.sampleIndices;
    this.sampleCount = plan.samplesPerQuery;
    // Only Server has several threads, and its queries have one sample.
    this.responseIdStride = threadCount;
  }
}
