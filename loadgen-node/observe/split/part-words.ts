import type { LatencyPart } from './latency-parts.ts';
import type { FirstTokenPart } from './split-sums.ts';

/** A part of the latency, or of the time to the first token. */
export type AnyPart = LatencyPart | FirstTokenPart;

export type PartWords<P extends AnyPart> = Readonly<
  Record<P, { readonly what: string; readonly short: string; readonly remedy: string }>
>;

/** Text for each part, and remedies if it limits a run. */
const PART_WORDS: PartWords<AnyPart> = {
  dispatch: {
    what: 'issued later than scheduled',
    short: 'dispatch lag',
    remedy: 'LoadGen issued late: give the LoadGen node cores of its own, or lower the rate.',
  },
  send: {
    what: 'waiting in LoadGen for credit or for the socket',
    short: 'waiting to be sent',
    remedy:
      'The SUT nodes grant no more credit (their queues are full: sut --queue-samples-max, --queue-bytes-max, or more ' +
      'nodes), or the link takes no more bytes.',
  },
  network: {
    what: 'the link, kernels, gRPC and event loops of both sides',
    short: 'network and event loops',
    remedy:
      'The time is between the two ends: look at the link (round trip, rate, receive windows: longhaul doctor), at other load on ' +
      'either machine, and at the bytes per sample.',
  },
  receive: {
    what: 'being read and queued in the SUT node',
    short: 'reading in the SUT',
    remedy:
      "The SUT node's I/O thread is late to read what has arrived: more nodes, or smaller payloads.",
  },
  queue: {
    what: 'waiting in the SUT for a batch to take it',
    short: 'queueing in the SUT',
    remedy:
      'The SUT is near its limit, or its batches wait to be filled: more workers or nodes, larger batches (sut --workers, ' +
      '--batch-size-max), a shorter --batch-delay-us-max, or a lower rate.',
  },
  batch: {
    what: 'a finished batch waiting for its worker',
    short: 'waiting for a worker',
    remedy: 'Batches wait for workers that are busy: more workers (sut --workers) or nodes.',
  },
  preprocess: {
    what: 'pre-processing',
    short: 'pre-processing',
    remedy:
      'Pre-processing limits the SUT: another encoding of the samples (run --encoding), or more workers.',
  },
  prompt: {
    what: 'the model on the prompt, other prompts and steps before it included, and the network',
    short: 'the model and the network',
    remedy:
      'The time to the first token is model and network together: LoadGen cannot separate them.',
  },
  compute: {
    what: 'the model',
    short: 'the model',
    remedy:
      'The model itself limits the SUT: threads per worker, providers, batch size (sut --threads-per-worker, --providers, ' +
      '--batch-size-max), and what else runs on its cores.',
  },
  postprocess: {
    what: 'post-processing',
    short: 'post-processing',
    remedy: 'Post-processing limits the SUT: more workers or nodes.',
  },
  reply: {
    what: 'waiting in the SUT node to be sent',
    short: 'sending in the SUT',
    remedy: "The SUT node's I/O thread is late to send responses, or LoadGen is late to take them.",
  },
  decode: {
    what: 'decompressing the response in LoadGen',
    short: 'decompression',
    remedy:
      'Decompression of the responses takes the time: another --response-compression, or none.',
  },
};

/** Texts for a benchmark without a model. */
const WORDS_WITHOUT_MODEL: PartWords<AnyPart> = {
  ...PART_WORDS,
  queue: {
    what: 'waiting in the SUT for its turn',
    short: 'queueing in the SUT',
    remedy:
      'The node answers no faster than its settings say: more nodes, or a lower rate; of benchmark delay more samples side by ' +
      'side (sut --delay-concurrency).',
  },
  compute: {
    what: 'the time that the node is set to take',
    short: 'the time that the node is set to take',
    remedy:
      'The node takes as long as its settings say (of benchmark delay: sut --delay-model), or what else runs on its cores holds it up.',
  },
};

/** Texts for the parts of a whole latency. */
export function wordsOf(hasModel: boolean): PartWords<AnyPart> {
  return hasModel ? PART_WORDS : WORDS_WITHOUT_MODEL;
}

/** Texts for token models: a generating node has no batches to fill. */
export const TOKEN_PART_WORDS: PartWords<FirstTokenPart> = {
  ...PART_WORDS,
  queue: {
    ...PART_WORDS.queue,
    what: 'waiting in the SUT for a place among the sequences under way',
    remedy: 'No place was free in the SUT.',
  },
};
