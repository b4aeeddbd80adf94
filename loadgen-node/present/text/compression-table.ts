import type { VerbResult } from '../../../shared/base/process/json-output.ts';
import { COMPRESSION_NAMES } from '../../../shared/compression/codec.ts';
import { availableCodecs } from '../../../shared/compression/codecs.ts';
import {
  COMPRESSION_RULES,
  type CompressionRule,
  perSampleRule,
} from '../../../shared/rules/compression-rules.ts';
import type { Round } from '../../../shared/rules/rounds/rounds.ts';

/** What is shown. */
export interface CompressionRequest {
  readonly round: Round;
  /** True: the rules' own words, too. */
  readonly text?: boolean;
}

const HEAD = ['Benchmark', 'Samples may travel', 'Responses', 'Per query'] as const;

/** What the rules of a round allow to compress, and what this process can do. */
export function compressionResult(request: CompressionRequest): VerbResult {
  return { text: compressionTable(request), json: compressionJson(request) };
}

function compressionJson({ round }: CompressionRequest): object {
  const [, ...lossless] = availableCodecs();
  return {
    round,
    rules: rulesOf(round),
    perSampleRule: perSampleRule(round),
    losslessHere: lossless,
  };
}

function rulesOf(round: Round): CompressionRule[] {
  return COMPRESSION_RULES.filter((rule) => rule.rounds.includes(round));
}

function compressionTable({ round, text }: CompressionRequest): string {
  const rules = rulesOf(round);
  const rows: (readonly string[])[] = [HEAD, ...rules.map(rowOf)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => cell(row, column).length)));
  const lines = rows.map((row) =>
    widths
      .map((width, column) => cell(row, column).padEnd(width + 2))
      .join('')
      .trimEnd(),
  );
  const texts = rules.map(({ benchmark, text: words }) => `${benchmark}: ${words}`);
  const missing = COMPRESSION_NAMES.filter((name) => !availableCodecs().includes(name));
  const without = missing.length === 0 ? '' : `, not ${missing.join(', ')}`;
  return [
    ...lines,
    '',
    ...(text === true ? [...texts, perSampleRule(round), ''] : []),
    `lossless here: ${availableCodecs().slice(1).join(', ')} (Node ${process.version}${without})`,
    '',
  ].join('\n');
}

function rowOf(rule: CompressionRule): string[] {
  return [
    rule.benchmark,
    rule.requests.join(', '),
    rule.losslessResponses ? 'none, lossless' : 'none',
    rule.perQueryInServer ? 'Server' : 'no',
  ];
}

function cell(row: readonly string[], column: number): string {
  return row[column] ?? '';
}
