import { tableLines } from '../../../shared/base/text.ts';
import { availableCodecs, COMPRESSION_NAMES } from '../../../shared/compression/codec.ts';
import type { VerbResult } from '../../../shared/config/command-line.ts';
import {
  COMPRESSION_RULES,
  type CompressionRule,
  perSampleRule,
} from '../../../shared/rules/compression-rules.ts';
import type { Round } from '../../../shared/rules/rounds/rounds.ts';

/** Round whose rules to show; `text`: with the rules' exact words. */
interface CompressionRequest {
  readonly round: Round;
  readonly text?: boolean;
}

const HEAD = ['Benchmark', 'Samples may travel', 'Responses', 'Per query'];

/** Compressions that a round's rules allow, by benchmark, and codecs available in this process. */
export function compressionResult({ round, text }: CompressionRequest): VerbResult {
  const rules = COMPRESSION_RULES.filter((rule) => rule.rounds.includes(round));
  const available = availableCodecs();
  const lossless = available.slice(1);
  const missing = COMPRESSION_NAMES.filter((name) => !available.includes(name));
  const without = missing.length === 0 ? '' : `, not ${missing.join(', ')}`;
  const words = rules.map((rule) => `${rule.benchmark}: ${rule.text}`);
  const lines = [
    ...tableLines([HEAD, ...rules.map(rowOf)], '  ', () => false),
    '',
    ...(text === true ? [...words, perSampleRule(round), ''] : []),
    `lossless here: ${lossless.join(', ')} (Node ${process.version}${without})`,
    '',
  ];
  const json = { round, rules, perSampleRule: perSampleRule(round), losslessHere: lossless };
  return { text: lines.join('\n'), json };
}

function rowOf(rule: CompressionRule): string[] {
  return [
    rule.benchmark,
    rule.requests.join(', '),
    rule.losslessResponses ? 'none, lossless' : 'none',
    rule.perQueryInServer ? 'Server' : 'no',
  ];
}
