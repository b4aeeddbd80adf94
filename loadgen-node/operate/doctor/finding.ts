import { asOneLine, counted, rounded } from '../../../shared/base/text.ts';

/**
 * Labels of the states in the report. `error`: a run would be wrong or impossible; `not checkable`:
 * facts are missing.
 */
const LABELS = { ok: 'ok', warning: 'WARNING', error: 'ERROR', 'not checkable': '?' } as const;

type FindingState = keyof typeof LABELS;

/** One check: subject, state, observation, and advice. */
export interface DoctorFinding {
  /** Stable identifier: `cpu-governor`. */
  readonly id: string;
  /** Name for people: `CPU governor`. */
  readonly what: string;
  readonly state: FindingState;
  readonly seen: string;
  /** A command, a setting, or an explanation; null if no action is needed. */
  readonly advice: string | null;
  /** Figures of the finding in ns, bytes, bit/s, or shares from 0 to 1. */
  readonly figures?: Readonly<Record<string, number | null>>;
}

/** Findings about one machine, link, or plan. */
export interface FindingGroup {
  readonly title: string;
  readonly findings: readonly DoctorFinding[];
}

/** Makes findings about one subject; its id, name and figures are given once. */
export function subject(id: string, what: string, figures?: DoctorFinding['figures']) {
  const make =
    (state: FindingState) =>
    (seen: string, advice: string | null = null): DoctorFinding => ({
      ...{ id, what, state, seen, advice },
      ...(figures !== undefined && { figures }),
    });
  const [ok, warning] = [make('ok'), make('warning')];
  /** @param why Appended to `seen`, only in a warning. */
  const okIf = (isOk: boolean, seen: string, advice: string, why = ''): DoctorFinding =>
    isOk ? ok(seen) : warning(`${seen}${why}`, advice);
  return { ok, warning, okIf, error: make('error'), unknown: make('not checkable') };
}

export type Subject = ReturnType<typeof subject>;

/** The known parts in one line; null ones are omitted. */
export function knownParts(parts: readonly (string | number | null)[], separator = ', '): string {
  return parts.filter((part) => part !== null).join(separator);
}

/** Share as a percentage with few digits: `4.2 %`. */
export function shareInPercent(share: number): string {
  const percent = share * 100;
  return `${percent >= 10 ? Math.round(percent) : Number(percent.toPrecision(2))} %`;
}

/** Bytes with a binary prefix: `16 MiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  const power = Math.min(3, Math.floor(Math.log2(bytes) / 10));
  return `${rounded(bytes / 1024 ** power, 3)} ${['', 'K', 'M', 'G'][power]}iB`;
}

/** A count with separators: `84,000`. */
export function countText(value: number): string {
  const digits = Number(value.toPrecision(value >= 1000 ? 3 : 4));
  return digits.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

function count(groups: readonly FindingGroup[], state: FindingState): number {
  return groups.flatMap(({ findings }) => findings).filter((one) => one.state === state).length;
}

/** All findings as text, ending with a newline: observation, then advice. */
export function doctorText(groups: readonly FindingGroup[]): string {
  const all = groups.flatMap(({ findings }) => findings);
  const width = Math.max(...all.map(({ what }) => what.length));
  const lines = groups.flatMap(({ title, findings }) => [
    asOneLine(title),
    ...findings.flatMap((one) => findingLines(one, width)),
    '',
  ]);
  const summary = [
    counted(count(groups, 'error'), 'error'),
    counted(count(groups, 'warning'), 'warning'),
    `${count(groups, 'ok')} ok`,
    `${count(groups, 'not checkable')} not checkable (?)`,
  ];
  return `${[...lines, summary.join(', ')].join('\n')}\n`;
}

function findingLines({ what, state, seen, advice }: DoctorFinding, width: number): string[] {
  const indent = '  '.padEnd(2 + 8 + width + 2);
  const first = `  ${LABELS[state].padEnd(8)}${asOneLine(what).padEnd(width)}  ${asOneLine(seen)}`;
  if (advice === null) return [first];
  return [first, `${indent}${state === 'ok' ? 'could be' : 'to do'}: ${asOneLine(advice)}`];
}

/** All findings as JSON. */
export function doctorJson(groups: readonly FindingGroup[]) {
  return { errors: count(groups, 'error'), warnings: count(groups, 'warning'), groups };
}
