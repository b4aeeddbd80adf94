import type { VerbResult } from '../../../shared/base/process/json-output.ts';
import { counted } from '../../../shared/base/text/counted.ts';
import type { SystemField } from '../tree/system-fields.ts';
import type { SystemDescription } from './compose-description.ts';
import { factsPathOf } from './facts-file.ts';
import { isTodo } from './field-text.ts';

/** Says what was written, what to be careful with, and what is left to fill in: for people, and for programs. */
export function descriptionReport(parts: {
  readonly path: string;
  readonly description: SystemDescription;
  readonly fields: readonly SystemField[];
  readonly warnings: readonly string[];
  /** What is said of each key of the user's file that this description has no field for. */
  readonly leftOut: readonly string[];
  /** Machines whose facts were read. */
  readonly machineCount: number;
}): Required<VerbResult> {
  const { path, description, fields, warnings, leftOut, machineCount } = parts;
  const open = fields.map(({ key }) => key).filter((key) => isTodo(description[key] ?? ''));
  const width = Math.max(0, ...open.map((key) => key.length));
  const factsPath = factsPathOf(path);
  const lines = [
    `${path}: ${fields.length} fields, ${open.length} of them still to fill in`,
    `${factsPath}: what was read, of ${counted(machineCount, 'machine')}`,
    ...leftOut.map((one) => `Left out: ${one}`),
    ...warnings.map((warning) => `Note: ${warning}`),
    ...open.map((key) => {
      const wanted = (description[key] ?? '').replace(/^TODO:? ?/, '');
      return `TODO  ${key.padEnd(width)}  ${wanted}`;
    }),
  ];
  if (open.length > 0) {
    lines.push(`Fill them in there, or in a file of your own, and describe again with --merge.`);
  }
  const fieldsToFillIn = open;
  const json = { path, factsPath, description, fieldsToFillIn, leftOut, warnings, machineCount };
  return { text: `${lines.join('\n')}\n`, json };
}
