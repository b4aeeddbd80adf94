import {
  createQueryDispatchLibrary,
  type DispatchSettings,
  defaultDispatchSettings,
  type QueryDispatchLibrary,
} from '../../../qdl/index.ts';
import type { Query, SamplePayloads } from '../../../shared/domain/system-under-test.ts';
import { RecordingSink } from '../samples/recording-sink.ts';
import { type FakeBehaviour, FakeSutNode } from './fake-sut-node.ts';

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

/** Sample i has `i + 1` bytes of value i, so that length and contents tell which it is. */
export const COUNTED_PAYLOADS: SamplePayloads = {
  encoding: { form: 'raw', compression: 'identity' },
  payloadOf: (index) => new Uint8Array(index + 1).fill(index),
};

/** Settings for these nodes, with short waits. */
export function settingsFor(
  list: readonly FakeSutNode[],
  more: Partial<DispatchSettings> = {},
): DispatchSettings {
  return {
    ...defaultDispatchSettings(list.map((node) => node.address)),
    benchmark: 'digits',
    callTimeoutMs: 2000,
    ...more,
  };
}

/** A QDL that has opened its streams to these nodes. */
export async function openQdl(
  list: readonly FakeSutNode[],
  payloads: SamplePayloads,
  more: Partial<DispatchSettings> = {},
): Promise<{ qdl: QueryDispatchLibrary; sink: RecordingSink }> {
  const qdl = createQueryDispatchLibrary(settingsFor(list, more), payloads);
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
