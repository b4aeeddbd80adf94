import type { LatencyPart } from './latency-parts.ts';

/** What a part is, for people, and what may be tried where it is what limits a run. */
export const PART_WORDS: Readonly<
  Record<LatencyPart, { readonly what: string; readonly remedy: string }>
> = {
  dispatch: {
    what: "LoadGen's own lateness",
    remedy: 'LoadGen issued late: give the LoadGen node cores of its own, or lower the rate.',
  },
  send: {
    what: 'waiting in LoadGen for credit or for the socket',
    remedy:
      'The SUT nodes grant no more credit (their queues are full: sut --queue-samples-max, --queue-bytes-max, or more ' +
      'nodes), or the link takes no more bytes.',
  },
  network: {
    what: 'the link, kernels, gRPC and event loops of both sides',
    remedy:
      'The time is between the two ends: look at the link (round trip, rate, receive windows: longhaul doctor), at other load on ' +
      'either machine, and at the bytes per sample.',
  },
  receive: {
    what: 'being read and queued in the SUT node',
    remedy:
      "The SUT node's I/O thread is late to read what has arrived: more nodes, or smaller payloads.",
  },
  queue: {
    what: 'waiting in the SUT for a batch to take it',
    remedy:
      'The SUT is near its limit, or its batches wait to be filled: more workers or nodes, larger batches (sut --workers, ' +
      '--batch-size-max), a shorter --batch-delay-us-max, or a lower rate.',
  },
  batch: {
    what: 'a finished batch waiting for its worker',
    remedy: 'Batches wait for workers that are busy: more workers (sut --workers) or nodes.',
  },
  preprocess: {
    what: 'pre-processing',
    remedy:
      'Pre-processing limits the SUT: another encoding of the samples (run --encoding), or more workers.',
  },
  compute: {
    what: 'the model',
    remedy:
      'The model itself limits the SUT: threads per worker, providers, batch size (sut --threads-per-worker, --providers, ' +
      '--batch-size-max), and what else runs on its cores.',
  },
  postprocess: {
    what: 'post-processing',
    remedy: 'Post-processing limits the SUT: more workers or nodes.',
  },
  reply: {
    what: 'waiting in the SUT node to be sent',
    remedy: "The SUT node's I/O thread is late to send responses, or LoadGen is late to take them.",
  },
  decode: {
    what: 'decompressing the response in LoadGen',
    remedy:
      'Decompression of the responses takes the time: another --response-compression, or none.',
  },
};
