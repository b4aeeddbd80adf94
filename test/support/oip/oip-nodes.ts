import type { ModelInferRequest } from '../../../proto/gen/inference/ModelInferRequest.ts';
import type { SutSettings } from '../../../sut-node/settings/sut-settings.ts';
import type { SutNode } from '../../../sut-node/sut-node.ts';
import { NO_DELAY, startTestNode } from '../nodes/test-sut-node.ts';
import { rawRequest } from './oip-client.ts';

/** A request for `echo`: bytes in so many rows. */
export function echo(raw: Uint8Array, rest: ModelInferRequest = {}, rows = 1): ModelInferRequest {
  const shape = [rows, raw.length / rows];
  return rawRequest('echo', { datatype: 'UINT8', shape, raw }, rest);
}

/** A node of the benchmark echo. */
export function echoNode(settings: Partial<SutSettings> = {}): Promise<SutNode> {
  return startTestNode({ benchmark: 'echo', ...settings });
}

/** A node of the benchmark delay, each sample of which takes `ns`. */
export function slowNode(ns: number, settings: Partial<SutSettings> = {}): Promise<SutNode> {
  const delay = { ...NO_DELAY, model: { kind: 'fixed', ns } as const, concurrency: 64 };
  return startTestNode({ benchmark: 'delay', delay, ...settings });
}
