import type { SystemField } from '../tree/system-fields.ts';
import type { SystemDescription } from './compose-description.ts';
import { factsPathOf } from './facts-file.ts';
import { isTodo } from './field-text.ts';

/** What the report tells. */
export interface DescriptionReportParts {
  readonly path: string;
  readonly description: SystemDescription;
  readonly fields: readonly SystemField[];
  readonly warnings: readonly string[];
  /** What is said of each key of the user's file that this description has no field for. */
  readonly leftOut: readonly string[];
  /** Machines whose facts were read. */
  readonly machineCount: number;
}

/** The same as {@link descriptionReport}, for programs. */
export function descriptionJson(parts: DescriptionReportParts): object {
  const { path, description, fields, warnings, leftOut, machineCount } = parts;
  const open = fields.map(({ key }) => key).filter((key) => isTodo(description[key] ?? ''));
  return {
    path,
    factsPath: factsPathOf(path),
    description,
    fieldsToFillIn: open,
    leftOut,
    warnings,
    machineCount,
  };
}

/** For people: what was written, what to be careful with, and what is left to fill in. */
export function descriptionReport(parts: DescriptionReportParts): string {
  const { path, description, fields, warnings, leftOut, machineCount } = parts;
  const open = fields.filter(({ key }) => isTodo(description[key] ?? ''));
  const width = Math.max(0, ...open.map(({ key }) => key.length));
  const lines = [
    `${path}: ${fields.length} fields, ${open.length} of them still to fill in`,
    `${factsPathOf(path)}: what was read, of ${machineCount} ${machineCount === 1 ? 'machine' : 'machines'}`,
    ...leftOut.map((one) => `Left out: ${one}`),
    ...warnings.map((warning) => `Note: ${warning}`),
    ...open.map(({ key }) => {
      const wanted = (description[key] ?? '').replace(/^TODO:? ?/, '');
      return `TODO  ${key.padEnd(width)}  ${wanted}`;
    }),
  ];
  if (open.length > 0) {
    lines.push(`Fill them in there, or in a file of your own, and describe again with --merge.`);
  }
  return `${lines.join('\n')}\n`;
}
