import { type NodeOptions, runNode } from '../processes.ts';
import { head, median, row } from '../report.ts';

/*
 * Goal: what continuous batching of a decoder gives over batches that stay together, and what longhaul adds to ONNX Runtime in it.
 * Method: the stand-in decoder on its own texts, all prompts there at once, no network. Continuous, bare (the same inferences by
 * ONNX Runtime alone) and static take turns in a process per round. Medians of rounds.
 */

export interface GenerationBenchOptions extends NodeOptions {
  /** Most sequences side by side. */
  readonly places: readonly number[];
  readonly prompts: number;
  readonly layers: number;
  readonly width: number;
  readonly threads: number;
  readonly rounds: number;
  /** Prompt tokens that enter between two steps, under an open load; empty: that is not measured. */
  readonly prefill: readonly number[];
  /** Prompts per second of the open load. */
  readonly perS: number;
}

/** Job of a client process. */
export interface GenerationJob {
  readonly places: number;
  readonly prompts: number;
  readonly size: { readonly layers: number; readonly width: number };
  readonly threads: number;
  /** Set where an open load is measured, and nothing else. */
  readonly prefill?: { readonly perS: number; readonly promptTokensPerStep: number };
}

/** To the first token, and from token to token. */
export interface PrefillMeasured {
  readonly ttftP50Ns: number;
  readonly ttftP99Ns: number;
  readonly itlP50Ns: number;
  readonly itlP99Ns: number;
  readonly itlMaxNs: number;
}

export interface GenerationMeasured {
  readonly tokens: number;
  readonly inferences: number;
  readonly continuousNs: number;
  readonly bareNs: number;
  readonly staticNs: number;
  readonly staticTokens: number;
}

const SECONDS_MAX = 280;

/** Prints one table, as Markdown; that of prompts per step where it is asked for. */
export async function benchGeneration(options: GenerationBenchOptions): Promise<void> {
  if (options.prefill.length > 0) {
    await benchPrefill(options);
    return;
  }
  const rates = ['continuous tokens/s', 'static tokens/s', 'bare tokens/s'];
  head(0, 'places', 'tokens', 'inferences', ...rates, 'continuous / static', 'continuous / bare');
  for (const places of options.places) {
    const rounds: GenerationMeasured[] = [];
    for (let round = 0; round < options.rounds; round += 1)
      rounds.push(await measure<GenerationMeasured>(options, places));
    const of = (value: (round: GenerationMeasured) => number): number => median(rounds.map(value));
    const perS = (tokens: number, ns: number): number => (tokens * 1e9) / ns;
    const [first] = rounds;
    row(
      ...[places, first?.tokens ?? 0, first?.inferences ?? 0],
      of(({ tokens, continuousNs }) => perS(tokens, continuousNs)).toFixed(0),
      of(({ staticTokens, staticNs }) => perS(staticTokens, staticNs)).toFixed(0),
      of(({ tokens, bareNs }) => perS(tokens, bareNs)).toFixed(0),
      of(
        ({ tokens, continuousNs, staticTokens, staticNs }) =>
          perS(tokens, continuousNs) / perS(staticTokens, staticNs),
      ).toFixed(2),
      of(({ bareNs, continuousNs }) => bareNs / continuousNs).toFixed(3),
    );
  }
}

async function benchPrefill(options: GenerationBenchOptions): Promise<void> {
  head(0, 'places', 'prompt tokens per step', 'TTFT p50 ms', 'p99', 'ITL p50 ms', 'p99', 'max');
  for (const places of options.places) {
    for (const promptTokensPerStep of options.prefill) {
      const prefill = { perS: options.perS, promptTokensPerStep };
      const seen = await measure<PrefillMeasured>(options, places, { prefill });
      const times = [seen.ttftP50Ns, seen.ttftP99Ns, seen.itlP50Ns, seen.itlP99Ns, seen.itlMaxNs];
      row(places, promptTokensPerStep, ...times.map((ns) => (ns / 1e6).toFixed(0)));
    }
  }
}

function measure<T>(
  options: GenerationBenchOptions,
  places: number,
  more: Pick<GenerationJob, 'prefill'> = {},
): Promise<T> {
  const { prompts, layers, width, threads } = options;
  const job: GenerationJob = { places, prompts, size: { layers, width }, threads, ...more };
  const args = [JSON.stringify(job)];
  const program = { name: `generation-${places}`, module: 'test/bench/generation/client.js', args };
  // A line per collection would be more than is read of a program.
  return runNode<T>({ ...options, isGcTraced: false }, program, SECONDS_MAX);
}
