import type { OipMethod } from '../../../shared/wire/oip/request-plan.ts';
import type { DataSource } from '../tensors/data-source.ts';
import type { InputsAsked } from './parse-input-shapes.ts';
import type { OipContents } from './request-fields.ts';

/** What was asked of a run over the Open Inference Protocol, before any server was. */
export interface OipAsked extends InputsAsked {
  readonly method: OipMethod | 'auto';
  readonly contents: OipContents | 'auto';
  /** Samples of one query in one request. */
  readonly samplesPerRequest: number;
  /** Undefined: the samples are the benchmark's. */
  readonly data: DataSource | undefined;
  readonly dataSeed: number | undefined;
  readonly dataCount: number | undefined;
  /** False: the model's inputs choose among the benchmark's encodings. */
  readonly isEncodingSaid: boolean;
}
