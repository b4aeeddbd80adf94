import { type NodeOptions, runNode } from '../processes.ts';
import { head, median, row } from '../report.ts';
import type { Mix } from './batches.ts';

/*
 * Goal: what continuous batching of a decoder gives over batches that stay together, and what
 * longhaul adds to ONNX Runtime in it. Method: the stand-in decoder, all prompts there at once, no
 * network. Continuous, static, and the inferences of both by ONNX Runtime alone (bare) take turns
 * in a process per round: bare / bare is what a scheduler without a cost would give. Medians of
 * rounds, least to most.
 */

export interface GenerationBenchOptions extends NodeOptions {
  /** Most sequences side by side. */
  readonly places: readonly number[];
  readonly prompts: number;
  readonly mixes: readonly Mix[];
  readonly layers: number;
  readonly width: number;
  readonly threads: number;
  readonly rounds: number;
}

/** Job of a client process. */
export interface GenerationJob {
  readonly places: number;
  readonly prompts: number;
  readonly mix: Mix;
  readonly size: { readonly layers: number; readonly width: number };
  readonly threads: number;
}

export interface GenerationMeasured {
  readonly tokens: number;
  readonly inferences: number;
  readonly continuousNs: number;
  readonly bareNs: number;
  readonly staticNs: number;
  readonly staticTokens: number;
  readonly bareStaticNs: number;
}

const SECONDS_MAX = 280;

/** Prints one table, as Markdown. */
export async function benchGeneration(options: GenerationBenchOptions): Promise<void> {
  const rates = ['continuous tokens/s', 'static tokens/s', 'continuous / static', 'bare / bare'];
  head(1, 'answers', 'places', 'tokens', 'inferences', ...rates, 'bare / continuous');
  for (const mix of options.mixes) {
    for (const places of options.places) await benchBatches(options, mix, places);
  }
}

async function benchBatches(
  options: GenerationBenchOptions,
  mix: Mix,
  places: number,
): Promise<void> {
  const rounds: GenerationMeasured[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    rounds.push(await measure(options, { mix, places }));
  }
  const of = (digits: number, value: (round: GenerationMeasured) => number): string => {
    const values = rounds.map(value).sort((a, b) => a - b);
    const [least, most] = [values[0], values.at(-1)].map((one) => (one ?? 0).toFixed(digits));
    return `${median(values).toFixed(digits)} (${least}-${most})`;
  };
  const [first] = rounds;
  row(
    ...[mix, places, first?.tokens ?? 0, first?.inferences ?? 0],
    of(0, ({ tokens, continuousNs }) => (tokens * 1e9) / continuousNs),
    of(0, ({ staticTokens, staticNs }) => (staticTokens * 1e9) / staticNs),
    of(2, ({ continuousNs, staticNs }) => staticNs / continuousNs),
    of(2, ({ bareNs, bareStaticNs }) => bareStaticNs / bareNs),
    of(3, ({ bareNs, continuousNs }) => bareNs / continuousNs),
  );
}

function measure(
  options: GenerationBenchOptions,
  own: Pick<GenerationJob, 'mix' | 'places'>,
): Promise<GenerationMeasured> {
  const { prompts, layers, width, threads } = options;
  const job: GenerationJob = { ...own, prompts, size: { layers, width }, threads };
  const args = [JSON.stringify(job)];
  const { mix, places } = own;
  const name = `generation-${mix}-${places}`;
  const program = { name, module: 'test/bench/generation/client.js', args };
  // A line per collection would be more than is read of a program.
  return runNode<GenerationMeasured>({ ...options, isGcTraced: false }, program, SECONDS_MAX);
}
