import {
  type DispatchSettings,
  defaultDispatchSettings,
  type QueryDispatchLibrary,
} from '../../../qdl/index.ts';
import { type BorrowedBytes, copyOf } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { SamplePayloads } from '../../../shared/domain/system-under-test.ts';
import {
  OIP_SERVICE_NAME,
  type OipMethod,
  type OipRequestPlan,
} from '../../../shared/wire/oip/request-plan.ts';
import { RecordingSink } from '../simulated-run/recording-sink.ts';
import { startQdl } from '../sut-node/fake-sut-node.ts';
import type { FakeOipServer } from './fake-oip-server.ts';

/** Two FP32 per sample: the index and its square. */
export const OIP_PAYLOADS: SamplePayloads = {
  encoding: { form: 'raw', compression: 'identity' },
  payloadOf: (index) => new Uint8Array(Float32Array.of(index, index * index).buffer),
};

/** How such samples become requests to {@link ECHO_MODEL}. */
export function oipPlan(method: OipMethod, more: Partial<OipRequestPlan> = {}): OipRequestPlan {
  return {
    model: { name: 'echo', version: '' },
    payloadForm: 'tensors',
    inputs: [{ name: 'in', datatype: 'FP32', sampleShape: [2], sampleBytes: 8 }],
    hasBatchAxis: true,
    samplesPerRequest: 1,
    outputs: [{ name: 'out', datatype: 'FP32', shape: [-1, 2] }],
    method,
    ...more,
  };
}

/** Settings for these servers, with short waits. */
export function oipSettings(
  list: readonly Pick<FakeOipServer, 'address'>[],
  plan?: OipRequestPlan,
  more: Partial<DispatchSettings> = {},
): DispatchSettings {
  const model = { name: 'echo', version: '' };
  const oip = { service: OIP_SERVICE_NAME, model, ...(plan !== undefined && { plan }) };
  return {
    ...defaultDispatchSettings(list.map(({ address }) => address)),
    callTimeoutMs: 2_000,
    readyTimeoutMs: 2_000,
    ...more,
    protocol: { name: 'oip', ...oip, ...more.protocol },
  };
}

/** A QDL that has opened its channels to these servers. */
export async function openOipQdl(
  list: readonly Pick<FakeOipServer, 'address'>[],
  plan: OipRequestPlan,
  more: Partial<DispatchSettings> = {},
): Promise<{ qdl: QueryDispatchLibrary; sink: TokenSink }> {
  return await startQdl(oipSettings(list, plan, more), OIP_PAYLOADS, new TokenSink());
}

/** Keeps first tokens and token counts too. */
export class TokenSink extends RecordingSink {
  readonly firstTokens: { readonly id: number; readonly payload: Uint8Array }[] = [];
  readonly tokenCounts: number[] = [];

  override firstToken(id?: number, payload?: BorrowedBytes): void {
    this.firstTokens.push({ id: id as number, payload: copyOf(payload ?? new Uint8Array(0)) });
  }

  override complete(id: number, payload: BorrowedBytes, tokenCount = 0): void {
    this.tokenCounts.push(tokenCount);
    super.complete(id, payload);
  }
}
