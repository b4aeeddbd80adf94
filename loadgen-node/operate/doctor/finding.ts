import { rounded } from '../../../shared/base/figures/figure-text.ts';

/** How much a finding matters. `error`: a run would be wrong or impossible. `not checkable`: nobody could look. */
export const FINDING_STATES = ['ok', 'warning', 'error', 'not checkable'] as const;

/** One of {@link FINDING_STATES}. */
export type FindingState = (typeof FINDING_STATES)[number];

/** What was looked at, what was seen, and what to do. */
export interface DoctorFinding {
  /** Stable word for programs: `cpu-governor`. */
  readonly id: string;
  /** For people: `CPU governor`. */
  readonly what: string;
  readonly state: FindingState;
  readonly seen: string;
  /** A command, a setting, or what it means; null where there is nothing to do. */
  readonly advice: string | null;
  /** The figures behind it, for programs; ns, bytes, bit/s, shares from 0 to 1. */
  readonly figures?: Readonly<Record<string, number | null>>;
}

/** Findings about one machine, link, or plan. */
export interface FindingGroup {
  readonly title: string;
  readonly findings: readonly DoctorFinding[];
}

/** Makes the findings of one subject: its id and name are said once. */
export interface Subject {
  ok(seen: string, advice?: string): DoctorFinding;
  warning(seen: string, advice: string): DoctorFinding;
  error(seen: string, advice: string): DoctorFinding;
  unknown(why: string, advice?: string): DoctorFinding;
}

/** What a finding is about. */
export function subject(
  id: string,
  what: string,
  figures?: Readonly<Record<string, number | null>>,
): Subject {
  const make =
    (state: FindingState) =>
    (seen: string, advice: string | null = null): DoctorFinding => ({
      id,
      what,
      state,
      seen,
      advice,
      ...(figures !== undefined && { figures }),
    });
  return {
    ok: make('ok'),
    warning: make('warning'),
    error: make('error'),
    unknown: make('not checkable'),
  };
}

/** Share as a percentage with few digits: `4.2 %`. */
export function shareInPercent(share: number): string {
  const percent = share * 100;
  return `${percent >= 10 ? Math.round(percent) : Number(percent.toPrecision(2))} %`;
}

/** Bytes with a binary prefix: `16 MiB`. */
export function bytesText(bytes: number): string {
  for (const [unit, size] of [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
  ] as const) {
    if (bytes >= size) return `${rounded(bytes / size, 3)} ${unit}`;
  }
  return `${Math.round(bytes)} B`;
}

/** Queries per second as people read them: `84,000`. */
export function countText(value: number): string {
  const digits = value >= 1000 ? Number(value.toPrecision(3)) : Number(value.toPrecision(4));
  return digits.toLocaleString('en-US', { maximumFractionDigits: 2 });
}
