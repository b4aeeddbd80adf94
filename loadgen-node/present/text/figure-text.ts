import { grouped } from '../../../shared/base/figures/figure-text.ts';
import { formatNs } from '../../../shared/base/text/duration.ts';
import { FIGURES, type FigureName } from '../../observe/figures/figure-names.ts';
import { formatNumber } from './number.ts';
import { formatShare } from './time-format.ts';

/** A figure of a run for people, with its unit. */
export function figureText(name: FigureName, value: number): string {
  switch (FIGURES[name].unit) {
    case 'ns':
      return formatNs(value);
    case '1/s':
      return `${formatNumber(value)} /s`;
    case 'share':
      return formatShare(value);
    case 'count':
      return grouped(value);
  }
}

/** An instant of ISO 8601 for people, to the second: `2026-11-21 21:00:00 UTC`. */
export function instantText(iso: string): string {
  return iso.replace(/^(\S+)T([\d:]+)(?:\.\d+)?Z$/, '$1 $2 UTC');
}
