import { type Command, Option } from 'commander';
import { addJson, writeResult } from '../../shared/base/process/json-output.ts';
import { COMPRESSION_NAMES } from '../../shared/compression/codec.ts';
import { availableCodecs } from '../../shared/compression/codecs.ts';
import { createCommand } from '../../shared/config/command-line.ts';
import {
  COMPRESSION_RULES,
  type CompressionRule,
  perSampleRule,
} from '../../shared/rules/compression-rules.ts';
import { DEFAULT_ROUND, ROUNDS, type Round } from '../../shared/rules/rounds/rounds.ts';

const EXAMPLE = `
Examples:
  longhaul compression
  longhaul compression --round v6.1 --text

--compression and --response-compression of "longhaul run" are checked against this table; with
--division open they are not, and every log says so.`;

interface CompressionOptions {
  readonly round: Round;
  readonly text?: boolean;
}

const HEAD = ['Benchmark', 'Samples may travel', 'Responses', 'Per query'] as const;

/** `longhaul compression`: what the rules of a round allow, and what this process can do. */
export function compressionCommand(): Command {
  const command = createCommand('compression', 'show what the rules allow to compress')
    .addOption(
      new Option('--round <round>', 'round whose rules hold')
        .choices(ROUNDS)
        .default(DEFAULT_ROUND),
    )
    .option('--text', "the rules' own words below the table")
    .addHelpText('after', EXAMPLE);
  return addJson(command).action(() => {
    const options = command.opts<CompressionOptions>();
    writeResult(command, { text: compressionTable(options), json: compressionJson(options) });
  });
}

function compressionJson({ round }: CompressionOptions): object {
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

function compressionTable({ round, text }: CompressionOptions): string {
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
