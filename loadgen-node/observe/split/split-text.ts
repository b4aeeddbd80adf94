import { counted, formatNs, grouped, rounded } from '../../../shared/base/text.ts';
import type { BoundName } from '../../loadgen/settings/query-bounds.ts';
import { LATENCY_PARTS, type LatencyPart } from './latency-parts.ts';
import { type AnyPart, type PartWords, TOKEN_PART_WORDS, wordsOf } from './part-words.ts';
import type {
  FirstTokenPart,
  LatencySplit,
  NodeTimes,
  PartFigures,
  SplitFindings,
  SplitSums,
  TokenSplit,
} from './split-sums.ts';
import type { TokenFindings } from './token-split.ts';

/** Smaller growth is noise of the clock and the event loop, in ns. */
const GROWTH_NS_MIN = 20_000;
/** Growth below this share of a typical latency is also noise. */
const GROWTH_SHARE_MIN = 0.1;
/** Share of the whole growth, or of the latency, from which a part is named. */
const NAMED_SHARE = 0.2;

/** Parts in which an Offline sample waits for earlier samples. */
const WAITS: readonly LatencyPart[] = ['dispatch', 'send', 'receive', 'queue', 'batch'];

/** Context of a run that its split text depends on. */
export interface SplitContext {
  readonly nodeNames?: readonly string[];
  /** True if LoadGen and SUT share one machine's cores. Default: false. */
  readonly isOneMachine?: boolean;
  /** False if the nodes have no model, so no workers and no batches. Default: true. */
  readonly hasModel?: boolean;
  /** Whether LoadGen was the limit by the verdict's rule; default: unknown. */
  readonly isGeneratorBound?: boolean | undefined;
}

/** A context with defaults filled in. */
type FullContext = Required<Omit<SplitContext, 'isGeneratorBound'>> &
  Pick<SplitContext, 'isGeneratorBound'>;

/** Text in place of advice if the verdict does not count LoadGen's lateness as its fault. */
const LAG_IS_SMALL =
  'This lateness of LoadGen is small compared with the bound: it was not the limit.';

function remedyOf<P extends AnyPart>(
  part: P,
  words: PartWords<P>,
  { isGeneratorBound }: FullContext,
): string {
  return part === 'dispatch' && isGeneratorBound === false ? LAG_IS_SMALL : words[part].remedy;
}

/**
 * Where the time went and what limits the run, in whole sentences. @param tokens For a run with
 * timed first tokens; the text is then about tokens.
 */
export function splitInWords(
  parts: readonly PartFigures[],
  findings: SplitFindings,
  context: FullContext,
  tokens: TokenFindings | null,
): string {
  if (tokens !== null) {
    return [...tokenSentences(tokens, findings, context), ...doubts(findings, tokens)].join(' ');
  }
  const { nodeNames, isOneMachine, hasModel } = context;
  const what = findings.isOfQueries ? 'queries' : 'samples';
  const words = wordsOf(hasModel);
  const told = findings.isAllAtOnce
    ? offline(parts, words)
    : growth(parts, words, `Typical ${what} took`);
  const remedy =
    isOneMachine && told.part === 'network'
      ? `${ON_ONE_MACHINE} this is the time of the kernel and of event loops that wait for a core.`
      : remedyOf(told.part, words, context);
  const ofNodes = nodeSentence(findings.sums, nodeNames, 'the slowest');
  return [...told.sentences, remedy, ...ofNodes, ...doubts(findings)].join(' ');
}

/** Start of the text in place of advice about a network, if there is none. */
const ON_ONE_MACHINE =
  'LoadGen and SUT share the cores of one machine, and no network is between them:';

/** Sentences, and the part whose remedy comes after them. */
interface Told<P> {
  readonly sentences: readonly string[];
  readonly part: P;
}

/**
 * Largest share of samples left out for impossible reported times. They tend to be fast ones; with
 * more, the typical and the slowest samples would be others.
 */
const LEFT_OUT_MAX = 0.01;

/**
 * Text if too many samples are left out, because their node reported more time than passed, to
 * explain where the time went.
 */
export function leftOutText({
  sampleCount,
  overtoldCount = 0,
}: Pick<LatencySplit, 'sampleCount' | 'overtoldCount'>): string | null {
  const all = sampleCount + overtoldCount;
  if (overtoldCount <= LEFT_OUT_MAX * all) return null;
  return `not known: of ${grouped(overtoldCount)} of ${grouped(all)} samples, SUT nodes reported more time than passed`;
}

/**
 * One clause, without full stop, on the part that takes the time. @param isOffline All samples were
 * due at the start.
 */
export function whyInShort(
  split: LatencySplit,
  { isOffline, hasModel }: { readonly isOffline: boolean; readonly hasModel: boolean },
): string {
  const { parts, tokens } = split;
  const words = wordsOf(hasModel);
  const unknown = leftOutText(split);
  if (unknown !== null) return unknown;
  if (tokens !== undefined) {
    return [`first token: ${growthInShort(tokens.parts, words)}`, ...perTokenInShort(tokens)].join(
      '; ',
    );
  }
  if (isOffline) {
    const most = largestWork(parts);
    return `once it is a sample's turn, most of its time is ${words[most.part].short}: ${formatNs(most.meanNs)}`;
  }
  return growthInShort(parts, words);
}

function growthInShort(parts: readonly PartFigures<AnyPart>[], words: PartWords<AnyPart>): string {
  const typicalNs = sumOf(parts, ({ typicalNs: ns }) => ns);
  const grownNs = sumOf(parts, ({ tailNs }) => tailNs) - typicalNs;
  const most = parts.reduce((a, b) => (b.typicalNs > a.typicalNs ? b : a));
  const share = Math.round((100 * most.typicalNs) / typicalNs);
  const head = `${share} % is ${words[most.part].short}`;
  const growthOf = (one: PartFigures<AnyPart>): number => one.tailNs - one.typicalNs;
  const grown = parts.reduce((a, b) => (growthOf(b) > growthOf(a) ? b : a));
  const byNs = growthOf(grown);
  // Same rule as in the sentences: small growth has no cause, nor has growth of many small parts.
  if (isSmall(grownNs, typicalNs) || byNs < NAMED_SHARE * grownNs) return head;
  const more = grown.part === most.part ? 'it' : words[grown.part].short;
  return `${head}; the slowest 1 % add ${formatNs(byNs)} of ${more}`;
}

function sumOf<P extends AnyPart>(
  parts: readonly PartFigures<P>[],
  of: (one: PartFigures<P>) => number,
): number {
  return parts.reduce((sum, one) => sum + of(one), 0);
}

/** Time per token and number of responses in progress; empty if no response has two tokens. */
function perTokenInShort({ perToken }: TokenSplit): string[] {
  if (perToken === null) return [];
  const { typicalNs, tailNs, typicalAnswers, tailAnswers } = perToken;
  const typical = `${formatNs(typicalNs)} with ${rounded(typicalAnswers, 2)} under way`;
  return [`per token: ${typical}, slowest 1 % ${formatNs(tailNs)} with ${rounded(tailAnswers, 2)}`];
}

/** Sentences on both times of a token model. */
function tokenSentences(
  { split: { parts, perToken }, sums }: TokenFindings,
  findings: SplitFindings,
  context: FullContext,
): string[] {
  const { nodeNames, isOneMachine } = context;
  const told = growth(parts, TOKEN_PART_WORDS, 'Typical first tokens took');
  const remedies = [remedyOf(told.part, TOKEN_PART_WORDS, context)];
  if (told.part === 'prompt' && isOneMachine) remedies[0] = `${ON_ONE_MACHINE} ${PROMPT_HERE}`;
  // In other scenarios a query is due when another completes, or all are due at once: waiting is
  // inherent, and no rate can be lowered.
  const hasRate = !findings.isAllAtOnce && findings.sums.all.meanOf(DISPATCH) > 0;
  const advice = RATE_REMEDIES[told.part];
  if (hasRate && advice !== undefined) remedies.push(advice);
  const ofNodes = nodeSentence(sums, nodeNames, 'those with the slowest first tokens');
  const sentences = [...told.sentences, ...remedies, ...ofNodes];
  return perToken === null ? sentences : [...sentences, perTokenSentence(perToken)];
}

function perTokenSentence({
  typicalNs,
  tailNs,
  typicalAnswers,
  tailAnswers,
}: NonNullable<TokenSplit['perToken']>): string {
  const answers = Number(rounded(typicalAnswers, 2));
  return (
    `Tokens behind the first typically took ${formatNs(typicalNs)} each, with ${counted(answers, 'answer')} of the node under way ` +
    `meanwhile; those of the slowest 1 % of the samples ${formatNs(tailNs)}, with ${rounded(tailAnswers, 2)}.`
  );
}

/** Split text for each bounded time of a token model; empty for other models. */
export function textsOfBounds({ text, tokens }: LatencySplit): Partial<Record<BoundName, string>> {
  if (tokens === undefined) return {};
  const { perToken } = tokens;
  if (perToken === null) return { ttft: text };
  const each = perTokenSentence(perToken);
  return { ttft: text.replace(` ${each}`, ''), tpot: each };
}

/** LoadGen's own lateness; 0 if queries are due when they are issued. */
const DISPATCH = LATENCY_PARTS.indexOf('dispatch');

const PROMPT_HERE =
  'what precedes the first token is the time of the model, of the kernel, and of event loops that wait for a core, together.';

/** Further advice if queries come at a rate. */
const RATE_REMEDIES: Partial<Record<FirstTokenPart, string>> = {
  queue:
    'More sequences side by side (sut --batch-size-max), which makes each token slower, more workers or nodes, or a lower rate.',
  prompt:
    'Where it is the model: a faster one, fewer sequences side by side (sut --batch-size-max), more workers or nodes, or a lower rate.',
};

function isSmall(grownNs: number, typicalNs: number): boolean {
  return grownNs < Math.max(GROWTH_NS_MIN, GROWTH_SHARE_MIN * typicalNs);
}

/** @param head Start of the sentence, continued with the typical time. */
function growth<P extends AnyPart>(
  parts: readonly PartFigures<P>[],
  words: PartWords<P>,
  head: string,
): Told<P> {
  const typicalNs = sumOf(parts, (one) => one.typicalNs);
  const tailNs = sumOf(parts, (one) => one.tailNs);
  const grownNs = tailNs - typicalNs;
  const both = `${head} ${formatNs(typicalNs)}, the slowest 1 % ${formatNs(tailNs)}`;
  if (isSmall(grownNs, typicalNs)) {
    return largest(parts, words, `${both}: the tail is hardly slower than the rest.`);
  }
  const grown = parts
    .map((one) => ({ ...one, byNs: one.tailNs - one.typicalNs }))
    .filter(({ byNs }) => byNs >= NAMED_SHARE * grownNs)
    .sort((a, b) => b.byNs - a.byNs);
  const [most] = grown;
  // Several small growths: none is worth naming.
  if (most === undefined) return largest(parts, words, `${both}: no part stands out.`);
  const named = grown.map(
    ({ part, byNs, typicalNs: from, tailNs: to }) =>
      `${part} (${words[part].what}) grows by ${formatNs(byNs)}, from ${formatNs(from)} to ${formatNs(to)}`,
  );
  return {
    sentences: [`${both}, ${formatNs(grownNs)} more. Of that, ${named.join('; ')}.`],
    part: most.part,
  };
}

/** Where the time goes if there is no slow tail. */
function largest<P extends AnyPart>(
  parts: readonly PartFigures<P>[],
  words: PartWords<P>,
  head: string,
): Told<P> {
  const latencyNs = sumOf(parts, ({ typicalNs }) => typicalNs);
  const most = parts.reduce((a, b) => (b.typicalNs > a.typicalNs ? b : a));
  const share = Math.round((100 * most.typicalNs) / latencyNs);
  const text = `The largest part is ${most.part} (${words[most.part].what}): ${formatNs(most.typicalNs)}, ${share} % of it.`;
  return { sentences: [head, text], part: most.part };
}

/**
 * All samples are due at the start, so the latency shows how many samples were before it, and the
 * tail is the last ones.
 */
function offline(parts: readonly PartFigures[], words: PartWords<AnyPart>): Told<LatencyPart> {
  const meanNs = parts.reduce((sum, { meanNs: ns }) => sum + ns, 0);
  const waitNs = parts
    .filter(({ part }) => WAITS.includes(part))
    .reduce((sum, { meanNs: ns }) => sum + ns, 0);
  const most = largestWork(parts);
  const share = Math.round((100 * waitNs) / meanNs);
  const sentences = [
    'All samples were due at the start, and latency counts from there: by construction ' +
      `${share} % of it is waiting for the samples before, in LoadGen and in the SUT, whatever the SUT is worth.`,
    `Of what a sample takes once it is its turn, the most is ${most.part} (${words[most.part].what}): ${formatNs(most.meanNs)} in the mean.`,
  ];
  return { sentences, part: most.part };
}

/** The largest part that is not a wait. */
function largestWork(parts: readonly PartFigures[]): PartFigures {
  const work = parts.filter(({ part }) => !WAITS.includes(part));
  return work.reduce((a, b) => (b.meanNs > a.meanNs ? b : a));
}

/** Names the node with a more than proportional number of slow samples, and its slowest part. */
function nodeSentence<P extends AnyPart>(
  { parts, nodes, tail }: SplitSums<P>,
  names: readonly string[],
  slowest: string,
): string[] {
  if (nodes.length < 2 || tail.count < 10) return [];
  const all = nodes.reduce((sum, { sums }) => sum + sums.count, 0);
  const excess = (node: NodeTimes): number => node.tailCount / tail.count - node.sums.count / all;
  const worst = nodes.reduce((a, b) => (excess(b) > excess(a) ? b : a));
  if (excess(worst) < NAMED_SHARE) return [];
  const others = nodes.filter((node) => node !== worst);
  const otherCount = others.reduce((sum, { sums }) => sum + sums.count, 0);
  const differences = parts.map((part, i) => {
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
      `${percent(worst.tailCount / tail.count)} of ${slowest}: ${most.part} is ${formatNs(most.hereNs)} in the mean there, ` +
      `${formatNs(most.elsewhereNs)} elsewhere.`,
  ];
}

/** Samples that the table leaves out, and why. */
function doubts(
  { sums: { all }, unknownCount, overtold, isOfQueries }: SplitFindings,
  tokens: TokenFindings | null = null,
): string[] {
  const sentences: string[] = [];
  if (unknownCount > 0) {
    const what = isOfQueries ? 'queries' : 'samples';
    sentences.push(
      `${unknownCount} of ${unknownCount + overtold.count + all.count} ${what} are not in it: they were lost, or their node reported no times.`,
    );
  }
  if (overtold.count > 0) {
    sentences.push(
      `${areNotInIt(overtold.count)}: their SUT node reported more time than passed here, by up to ${formatNs(-overtold.leastNs)}.`,
    );
  }
  if (tokens !== null && tokens.leftOut > 0) {
    sentences.push(
      `${areNotInIt(tokens.leftOut)}: no first token came, or it came earlier than the parts before it allow.`,
    );
  }
  return sentences;
}

function areNotInIt(count: number): string {
  return `${counted(count, 'sample is', 'samples are')} not in it`;
}
