import { formatNs } from '../../../shared/base/text.ts';
import { LATENCY_PARTS, type LatencyPart } from './latency-parts.ts';
import type { NodeTimes, PartFigures, SplitFindings } from './split-sums.ts';

/** Growth below this is none: what the clock and the event loop make of equal samples. */
const GROWTH_NS_MIN = 20_000;
/** Growth below this share of a typical latency is none either. */
const GROWTH_SHARE_MIN = 0.1;
/** Share of the whole growth, or of the latency, from which a part is named. */
const NAMED_SHARE = 0.2;

/** Parts in which a sample of Offline waits for those before it. */
const WAITS: readonly LatencyPart[] = ['dispatch', 'send', 'receive', 'queue', 'batch'];

/** The limit of a run, in whole sentences. */
export function splitInWords(
  parts: readonly PartFigures[],
  findings: SplitFindings,
  nodeNames: readonly string[],
): string {
  const sentences = findings.isAllAtOnce ? offline(parts) : growth(parts, findings);
  return [...sentences, ...nodeSentence(findings, nodeNames), ...doubts(findings)].join(' ');
}

function growth(parts: readonly PartFigures[], findings: SplitFindings): string[] {
  const typicalNs = findings.typical.meanLatencyNs;
  const tailNs = findings.tail.meanLatencyNs;
  const grownNs = tailNs - typicalNs;
  const what = findings.isOfQueries ? 'queries' : 'samples';
  const head = `Typical ${what} took ${formatNs(typicalNs)}, the slowest 1 % ${formatNs(tailNs)}`;
  if (grownNs < Math.max(GROWTH_NS_MIN, GROWTH_SHARE_MIN * typicalNs)) {
    return [`${head}: the tail is hardly slower than the rest.`, ...largest(parts, typicalNs)];
  }
  const grown = parts
    .map((one) => ({ ...one, byNs: one.tailNs - one.typicalNs }))
    .filter(({ byNs }) => byNs >= NAMED_SHARE * grownNs)
    .sort((a, b) => b.byNs - a.byNs);
  const [most] = grown;
  // Eleven small growths: none is worth a name.
  if (most === undefined) return [`${head}: no part stands out.`, ...largest(parts, typicalNs)];
  const named = grown.map(
    ({ part, byNs, typicalNs: from, tailNs: to }) =>
      `${part} (${PART_WORDS[part].what}) grows by ${formatNs(byNs)}, from ${formatNs(from)} to ${formatNs(to)}`,
  );
  return [
    `${head}, ${formatNs(grownNs)} more. Of that, ${named.join('; ')}.`,
    PART_WORDS[most.part].remedy,
  ];
}

/** Where the time goes when no tail explains it. */
function largest(parts: readonly PartFigures[], latencyNs: number): string[] {
  const most = parts.reduce((a, b) => (b.typicalNs > a.typicalNs ? b : a));
  const share = Math.round((100 * most.typicalNs) / latencyNs);
  return [
    `The largest part is ${most.part} (${PART_WORDS[most.part].what}): ${formatNs(most.typicalNs)}, ${share} % of it.`,
    PART_WORDS[most.part].remedy,
  ];
}

/**
 * All samples are due at the start, so the latency shows how many were before it, its tail the last
 * ones.
 */
function offline(parts: readonly PartFigures[]): string[] {
  const meanNs = parts.reduce((sum, { meanNs: ns }) => sum + ns, 0);
  const waitNs = parts
    .filter(({ part }) => WAITS.includes(part))
    .reduce((sum, { meanNs: ns }) => sum + ns, 0);
  const work = parts.filter(({ part }) => !WAITS.includes(part));
  const most = work.reduce((a, b) => (b.meanNs > a.meanNs ? b : a));
  const share = Math.round((100 * waitNs) / meanNs);
  return [
    'All samples were due at the start, and latency counts from there: by construction ' +
      `${share} % of it is waiting for the samples before, in LoadGen and in the SUT, whatever the SUT is worth.`,
    `Of what a sample takes once it is its turn, the most is ${most.part} (${PART_WORDS[most.part].what}): ${formatNs(most.meanNs)} in the mean.`,
    PART_WORDS[most.part].remedy,
  ];
}

/**
 * Names the node that has more of the slow samples than its share, and the part that is slower
 * there.
 */
function nodeSentence({ nodes, tail }: SplitFindings, names: readonly string[]): string[] {
  if (nodes.length < 2 || tail.count < 10) return [];
  const all = nodes.reduce((sum, { sums }) => sum + sums.count, 0);
  const excess = (node: NodeTimes): number => node.tailCount / tail.count - node.sums.count / all;
  const worst = nodes.reduce((a, b) => (excess(b) > excess(a) ? b : a));
  if (excess(worst) < NAMED_SHARE) return [];
  const others = nodes.filter((node) => node !== worst);
  const otherCount = others.reduce((sum, { sums }) => sum + sums.count, 0);
  const differences = LATENCY_PARTS.map((part, i) => {
    const elsewhereNs =
      others.reduce((sum, { sums }) => sum + sums.meanOf(i) * sums.count, 0) / otherCount;
    return { part, hereNs: worst.sums.meanOf(i), elsewhereNs };
  });
  const most = differences.reduce((a, b) =>
    b.hereNs - b.elsewhereNs > a.hereNs - a.elsewhereNs ? b : a,
  );
  const percent = (value: number): string => `${Math.round(100 * value)} %`;
  return [
    `SUT node ${names[worst.index] ?? worst.index + 1} answered ${percent(worst.sums.count / all)} of the samples and ` +
      `${percent(worst.tailCount / tail.count)} of the slowest: ${most.part} is ${formatNs(most.hereNs)} in the mean there, ` +
      `${formatNs(most.elsewhereNs)} elsewhere.`,
  ];
}

/** Samples that the table leaves out, and why. */
function doubts({ all, unknownCount, overtold, isOfQueries }: SplitFindings): string[] {
  const sentences: string[] = [];
  if (unknownCount > 0) {
    const what = isOfQueries ? 'queries' : 'samples';
    sentences.push(
      `${unknownCount} of ${unknownCount + overtold.count + all.count} ${what} are not in it: they were lost, or their node told no times.`,
    );
  }
  if (overtold.count > 0) {
    sentences.push(
      `${overtold.count} samples are not in it: their SUT node told more time than passed here, by up to ${formatNs(-overtold.leastNs)}.`,
    );
  }
  return sentences;
}

/** Each part in words, and remedies where it limits a run. */
const PART_WORDS: Readonly<
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
