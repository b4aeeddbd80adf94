import {
  createQueryDispatchLibrary,
  type DispatchSettings,
  defaultDispatchSettings,
  type QueryDispatchLibrary,
} from '../../qdl/index.ts';
import type { SamplePayloads } from '../../shared/domain/query-sample-library.ts';
import type { Query } from '../../shared/domain/system-under-test.ts';
import { type FakeBehaviour, FakeSutNode } from './fake-sut-node.ts';
import { RecordingSink } from './recording-sink.ts';

/** The fake nodes of one test file, and a QDL before them. */
export class FakeNodes {
  readonly #nodes: FakeSutNode[] = [];

  async start(...behaviours: FakeBehaviour[]): Promise<FakeSutNode[]> {
    const started = await Promise.all(behaviours.map((behaviour) => FakeSutNode.start(behaviour)));
    this.#nodes.push(...started);
    return started;
  }

  /** For `afterEach`. */
  readonly stop = (): void => {
    for (const node of this.#nodes.splice(0)) node.stop();
  };
}

/** A QDL that has opened its streams to these nodes. */
export async function openQdl(
  list: readonly FakeSutNode[],
  payloads: SamplePayloads,
  more: Partial<DispatchSettings> = {},
): Promise<{ qdl: QueryDispatchLibrary; sink: RecordingSink }> {
  const settings = {
    ...defaultDispatchSettings(list.map((node) => node.address)),
    benchmark: 'digits',
    callTimeoutMs: 2000,
    ...more,
  };
  const qdl = createQueryDispatchLibrary(settings, payloads);
  const sink = new RecordingSink();
  await qdl.connect();
  await qdl.name();
  await qdl.start(sink);
  return { qdl, sink };
}

/** A query of these samples. */
export function queryOf(id: number, firstResponseId: number, indices: readonly number[]): Query {
  return {
    id,
    firstResponseId,
    sampleIndices: Uint32Array.from(indices),
    sampleOffset: 0,
    sampleCount: indices.length,
    responseIdStride: 1,
  };
}
