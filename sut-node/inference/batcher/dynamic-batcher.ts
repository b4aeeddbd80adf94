import assert from 'node:assert';
import type { Clock, PlannedCall } from '../../../shared/base/clock.ts';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs } from '../../../shared/base/text.ts';
import {
  BATCH_SIZE_MAX,
  type BatchPreset,
  type BatchSettings,
} from '../../settings/batch-settings.ts';
import {
  BatchQueue,
  GroupedQueue,
  removeOwner,
  type WaitingLine,
  type WaitingLines,
} from './grouped-queue.ts';
import type { BatchWorkers, SampleOwner, WaitingSample } from './sut-model.ts';

/** Settings and dependencies of a batcher. */
interface BatcherOptions {
  readonly policy: BatchPolicy;
  /** Most samples waiting at once. */
  readonly queueSamplesMax: number;
  readonly clock: Clock;
  readonly workers: BatchWorkers;
  /** Called with the number of samples of every batch, if metrics are requested. */
  readonly observeBatch?: ((sampleCount: number) => void) | undefined;
}

/**
 * Joins waiting samples, of whatever query and stream, into batches.
 *
 *   full batch → any worker with room: idle, or one ahead of a busy one, so that no
 *                                    worker waits for this thread between two full batches
 *   a preferred size is waiting → an idle worker, at once: the largest such size that is filled
 *   delay of the oldest is over → an idle worker, at once: the largest preferred size that is
 *   filled, or
 *                                    all where none is; the rest waits its own delay
 *   less, all workers busy → stays: it could only wait at the worker, and here it can still grow
 *   less, delay not over → a timer, set only while a worker is idle
 *
 * Thus the queue is here and nowhere else, and what the timer costs is taken from an idle core.
 *
 * Samples of different groups wait in lines of their own. The oldest sample goes first: before a
 * full batch of another line goes the line of an older sample whose delay is over, full or not, or
 * it would starve.
 *
 * No batch mixes benchmarks or models: a node serves one, and a stream that asks for another is
 * refused when it opens (server/infer/open-negotiation.ts). Payloads are not looked at here, and
 * equal samples are never merged (rule: inference_rules, "coalescing identical queries" is
 * forbidden): each sample has a row of its own.
 *
 * Hot path: allocates one list and one object per batch, and no object per sample.
 */
export class DynamicBatcher {
  readonly #options: BatcherOptions;
  #policy: BatchPolicy;
  #lines: WaitingLines;
  /** Batch size by the number of waiting samples. */
  #sizes: Uint16Array;
  /** Smallest size that an idle worker gets without a wait. */
  #readySize: number;
  #timer: PlannedCall | undefined;
  #timerAtNs = 0;

  constructor(options: BatcherOptions) {
    this.#options = options;
    this.#policy = options.policy;
    this.#sizes = batchSizes(options.policy);
    this.#readySize = options.policy.preferredSizes[0] ?? options.policy.batchSizeMax;
    this.#lines = new BatchQueue(options.queueSamplesMax);
  }

  get waitingCount(): number {
    return this.#lines.count;
  }

  /**
   * Adopts facts of the loaded model: its policy and whether it has groups. Call before any sample.
   */
  fitTo(policy: BatchPolicy): void {
    assert.equal(this.#lines.count, 0);
    const { queueSamplesMax: capacity, workers } = this.#options;
    this.#policy = policy;
    this.#sizes = batchSizes(policy);
    this.#readySize = policy.preferredSizes[0] ?? policy.batchSizeMax;
    if (workers.groupOf === undefined) return;
    const groupOf = (sample: WaitingSample): number => workers.groupOf?.(sample) ?? 0;
    this.#lines = new GroupedQueue({ capacity, lineMin: this.#readySize, groupOf });
  }

  /**
   * Queues a sample; false if the queue is full. Call {@link dispatch} after the last sample of a
   * part.
   */
  add(sample: WaitingSample): boolean {
    return this.#lines.push(sample);
  }

  /** Sends the batches that are due. Called when samples, or room at a worker, came. */
  readonly dispatch = (): void => {
    const { workers } = this.#options;
    while (workers.hasRoom) {
      const line = this.#fullLine();
      if (line === undefined) break;
      this.#run(line);
    }
    while (workers.hasIdle) {
      const { front } = this.#lines;
      if (front === undefined) break;
      const line = this.#isOverdue(front) ? front : this.#lines.frontOf(this.#readySize);
      if (line === undefined) {
        this.#wakeAt(this.#dueAtNs(front));
        return;
      }
      this.#run(line);
    }
    this.#stopTimer();
  };

  /** Drops the waiting samples of a lost owner; returns their number. */
  removeOwner(owner: SampleOwner): number {
    this.#options.workers.leave?.(owner);
    return removeOwner(this.#lines, owner);
  }

  /** Removes all samples: no worker will come. */
  removeAll(): WaitingSample[] {
    this.#stopTimer();
    return this.#lines.removeAll();
  }

  /** The line for a worker with room, if any holds a full batch. */
  #fullLine(): WaitingLine | undefined {
    const line = this.#lines.frontOf(this.#policy.batchSizeMax);
    const { front } = this.#lines;
    if (line === undefined || front === undefined || front === line) return line;
    return this.#isOverdue(front) ? front : line;
  }

  #isOverdue(line: WaitingLine): boolean {
    // Without a delay the clock need not be read.
    return this.#policy.batchDelayNsMax === 0 || this.#dueAtNs(line) <= this.#options.clock.nowNs();
  }

  #dueAtNs(line: WaitingLine): number {
    const oldest = line.oldest as WaitingSample; // Lines that are given out are not empty.
    return oldest.queuedAtNs + this.#policy.batchDelayNsMax;
  }

  #run(line: WaitingLine): void {
    const waiting = Math.min(line.count, this.#policy.batchSizeMax);
    const samples = line.shift(this.#sizes[waiting] as number);
    this.#options.observeBatch?.(samples.length);
    this.#options.workers.run({ samples, takenAtNs: this.#options.clock.nowNs() });
  }

  /** Most arriving parts leave the oldest sample, and so the timer, unchanged. */
  #wakeAt(atNs: number): void {
    if (this.#timer !== undefined && this.#timerAtNs === atNs) return;
    this.#stopTimer();
    this.#timerAtNs = atNs;
    this.#timer = this.#options.clock.callAt(atNs, () => {
      this.#timer = undefined;
      this.dispatch();
    });
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

const PRESETS_OF_QUERIES: ReadonlySet<BatchPreset> = new Set(['single-stream', 'multi-stream']);

/** When the batcher closes a batch, and its largest size. */
interface BatchPolicy {
  readonly batchSizeMax: number;
  /** Longest wait of the oldest sample for a fuller batch while a worker is idle. */
  readonly batchDelayNsMax: number;
  /**
   * Sizes, ascending, that an idle worker gets without a wait; the last is always {@link
   * batchSizeMax}.
   */
  readonly preferredSizes: readonly number[];
}

/** Constraints of a loaded model on batches. */
interface BatchNeeds {
  /** Samples per inference, if fixed in the model. */
  readonly batchSizeFixed?: number | undefined;
  /**
   * Sequences that a worker generates concurrently; undefined for a model that does not generate.
   */
  readonly sequencesMax?: number | undefined;
}

/**
 * Policy from settings and model. A model with a fixed batch axis gets no larger batches (the
 * worker pads smaller ones), whatever the settings; by default it gets full ones, since its
 * inference costs the same for any number of samples.
 * @throws MlperfError `ERR_CONFIG_INVALID` for an unreachable preferred size.
 */
export function batchPolicy(settings: BatchSettings, needs: BatchNeeds = {}): BatchPolicy {
  const { batchPreferredSizes, batchDelayUsMax } = settings;
  const batchSizeMax = sizeMaxOf(settings, needs.batchSizeFixed);
  // Sizes above the model's own batch are merely unused.
  const allowedMax = Math.max(batchSizeMax, settings.batchSizeMax);
  const tooLarge = batchPreferredSizes.find((size) => size > allowedMax);
  if (tooLarge !== undefined) {
    throw configInvalid(
      `--batch-preferred-sizes ${tooLarge}: larger than the largest batch, ${allowedMax} ` +
        '(--batch-size-max)',
    );
  }
  const sizes = new Set(batchPreferredSizes.filter((size) => size < batchSizeMax));
  return {
    batchSizeMax,
    batchDelayNsMax: batchDelayUsMax * 1_000,
    preferredSizes: [...[...sizes].sort((a, b) => a - b), batchSizeMax],
  };
}

/**
 * Most samples that a worker processes at once: its largest batch, or its concurrent sequences.
 * @throws MlperfError as {@link batchPolicy}
 */
export function samplesAtOnce(settings: BatchSettings, needs: BatchNeeds): number {
  return needs.sequencesMax ?? batchPolicy(settings, needs).batchSizeMax;
}

/** A preset for small queries keeps its size: a batch that no query fills would only wait. */
function sizeMaxOf(settings: BatchSettings, sizeFixed: number | undefined): number {
  const { batchPreset, batchSizeAsked, batchSizeMax } = settings;
  if (sizeFixed === undefined) return batchSizeMax;
  const isSaid = batchSizeAsked !== undefined || PRESETS_OF_QUERIES.has(batchPreset);
  return Math.min(sizeFixed, isSaid ? batchSizeMax : BATCH_SIZE_MAX);
}

/**
 * Samples in a batch, by the number waiting (up to `batchSizeMax`, where the list ends): the
 * largest preferred size that is filled, or all if none is.
 */
export function batchSizes({ preferredSizes, batchSizeMax }: BatchPolicy): Uint16Array {
  const sizes = new Uint16Array(batchSizeMax + 1);
  for (let waiting = 0; waiting <= batchSizeMax; waiting += 1) {
    sizes[waiting] = preferredSizes.findLast((size) => size <= waiting) ?? waiting;
  }
  return sizes;
}

/**
 * The node's batching as sentences made from the effective settings, as a submission must describe
 * it (rule: inference_rules, "Online batching, meaning how the server batches queries for
 * processing").
 * @param needs Constraints of the loaded model.
 * @throws MlperfError `ERR_CONFIG_INVALID` as {@link batchPolicy}
 */
export function batchingInWords(settings: BatchSettings, needs: BatchNeeds = {}): string {
  const { batchSizeMax, batchDelayNsMax, preferredSizes } = batchPolicy(settings, needs);
  const { batchSizeFixed } = needs;
  const smaller = preferredSizes.slice(0, -1);
  const sentences =
    needs.sequencesMax !== undefined
      ? sequencesInWords(needs.sequencesMax)
      : batchSizeMax === 1
        ? [
            'No batching: every sample is an inference of its own, and none waits for another.',
            'Samples are taken in the order of their arrival.',
          ]
        : [
            'Batches are formed while the node runs: samples that wait at the same time, of any query and any ' +
              'stream, are joined in the order of their arrival into one inference of at most ' +
              `${batchSizeMax} samples.`,
            `A batch of ${batchSizeMax} goes out as soon as so many wait and a worker has room for it, which it ` +
              'has while it is idle or runs one batch with none behind it.',
            ...(smaller.length === 0
              ? []
              : [
                  `An idle worker gets a batch of ${listed(smaller)} samples as soon as so many wait, the ` +
                    'largest of these sizes that is filled.',
                ]),
            batchDelayNsMax === 0
              ? 'An idle worker gets whatever waits at once: no sample waits for a fuller batch.'
              : 'Otherwise an idle worker gets what waits when the oldest sample has waited ' +
                `${formatNs(batchDelayNsMax)}, which counts towards its latency.`,
            'Samples that the model cannot take together, for example of different shapes, are never in one ' +
              'batch; those whose oldest sample waits longest go first.',
          ];
  if (batchSizeFixed !== undefined && batchSizeFixed > 1) {
    sentences.push(
      `The model has a fixed batch of ${batchSizeFixed}: a smaller batch is filled up, and what fills it ` +
        'is not counted as samples.',
    );
  }
  sentences.push('Equal samples are never merged, and no result is kept for another sample.');
  return sentences.join(' ');
}

function sequencesInWords(sequencesMax: number): string[] {
  return [
    `Continuous batching at a token's border: a worker generates up to ${sequencesMax} sequences side by side, of any ` +
      'query and any stream, with one inference per token of all of them.',
    'Samples are taken in the order of their arrival: a prompt enters with an inference of its own as soon as a sequence ' +
      'has ended, and no sample waits for others to form a batch.',
  ];
}

/** `2, 4 or 8`. */
function listed(sizes: readonly number[]): string {
  const last = sizes.at(-1);
  return sizes.length === 1 ? `${last}` : `${sizes.slice(0, -1).join(', ')} or ${last}`;
}
