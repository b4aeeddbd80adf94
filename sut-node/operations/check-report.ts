import type { ModelTensor } from '../model/model-facts.ts';
import type { NodeCheckReport } from './check-node.ts';

const MIB = 1024 ** 2;
const LABEL_WIDTH = 15;
/** Benchmark of models and data that are the user's. */
const OWN_BENCHMARK = 'custom';

/** The report for people: a label and its values in each paragraph. */
export function checkReportText(report: NodeCheckReport): string {
  const { model, inferences, settings } = report;
  const versions = report.components.map(({ name = '', version = '' }) => `${name} ${version}`);
  const paragraphs: readonly [label: string, lines: readonly string[]][] = [
    ['Configuration', [report.configuration]],
    ['Benchmark', [`${report.benchmark}, ${whoseBenchmark(report)}`]],
    ['Model', [model.name, model.file ?? 'no file', ...sha256Lines(model.sha256), kindOf(report)]],
    ['Inputs', model.inputs.map(tensorText)],
    ['Outputs', model.outputs.map(tensorText)],
    ['Provider', [report.provider]],
    ['Workers', [`${report.workers}`]],
    ['Batching', report.batching.split(/(?<=\.) /)],
    ['Inference', [...sampleLines(report), ...inferences.map(batchText)]],
    ['Memory', [`${(report.rssBytes / MIB).toFixed(0)} MiB resident, all threads together`]],
    ['Versions', [`longhaul ${report.longhaul}`, ...versions]],
    ['Settings', Object.entries(settings).map(settingText)],
  ];
  return paragraphs
    .filter(([, lines]) => lines.length > 0)
    .flatMap(([label, lines]) =>
      lines.map((line, i) => `${(i === 0 ? label : '').padEnd(LABEL_WIDTH)}${line}\n`),
    )
    .join('');
}

function settingText([name, value]: readonly [string, string]): string {
  return `${name} = ${value}`;
}

function sampleLines({ sample }: NodeCheckReport): string[] {
  return sample === null ? [] : [`samples: ${sample.form}, ${sample.bytes} bytes each`];
}

function sha256Lines(sha256: string): string[] {
  return sha256 === '' ? [] : [`SHA-256 ${sha256}`];
}

function whoseBenchmark({ benchmark, isOfficial }: NodeCheckReport): string {
  if (benchmark === OWN_BENCHMARK) return 'a model and data of your own';
  return isOfficial ? 'of MLPerf' : 'an example of this project';
}

/** What the result of a run with this model may be called. */
function kindOf({ benchmark, isOfficial, model }: NodeCheckReport): string {
  if (benchmark === OWN_BENCHMARK)
    return 'your own model: there is no reference to compare it with';
  if (model.isStandIn) return "a stand-in: not known to be the benchmark's own model";
  return isOfficial
    ? 'the reference model of the benchmark, known by its checksum'
    : "the benchmark's own model";
}

function tensorText({ name, elementType, shape }: ModelTensor): string {
  const lengths = shape.map((length) => (length === 0 ? 'free' : String(length)));
  return `${name}: ${elementType} [${lengths.join(', ')}]`;
}

function batchText({
  batchSize,
  computeNs,
  totalNs,
}: NodeCheckReport['inferences'][number]): string {
  const ms = (ns: number): string => `${(ns / 1e6).toPrecision(3)} ms`;
  const perSecond = ((batchSize * 1e9) / totalNs).toPrecision(3);
  return `batch of ${batchSize}: ${ms(computeNs)} in the model, ${ms(totalNs)} in all, ${Number(perSecond)} samples/s of one worker`;
}
