import type { OipContents } from '../../shared/oip/request-fields.ts';
import type { OipMethod } from '../../shared/oip/request-plan.ts';
import type { DataSource } from './data/data-source.ts';
import type { InputShapes } from './resolve-inputs.ts';

/** What was asked of a run over the Open Inference Protocol, before any server was. */
export interface OipAsked {
  readonly method: OipMethod | 'auto';
  readonly contents: OipContents | 'auto';
  /** Samples of one query in one request. */
  readonly samplesPerRequest: number;
  readonly inputShapes: InputShapes;
  /** Undefined: the samples are the benchmark's. */
  readonly data: DataSource | undefined;
  readonly dataSeed: number | undefined;
  readonly dataCount: number | undefined;
  /** False: the model's inputs choose among the benchmark's encodings. */
  readonly isEncodingSaid: boolean;
}
