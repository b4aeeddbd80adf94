import { grouped } from '../../../../shared/base/text.ts';
import type { NetworkAudit } from '../../../observe/network-audit.ts';
import type { SampleRecords } from '../../../observe/records/sample-records.ts';
import { drawWindow, hoverData } from '../../charts/hover.ts';
import { renderFigure } from '../../charts/percentile-chart.ts';
import { drawAxes, drawBars, type PlotArea } from '../../charts/plot.ts';
import { linearAxis } from '../../charts/scale.ts';
import { type Html, html, htmlTable } from '../../html/html.ts';
import { formatNumber, formatShare } from '../../text/figure-text.ts';

/**
 * Number of batches of each size; index 0 is size 1. A node reports the whole batch's times with
 * each of its samples, in ns, so samples of a node with the same three times were in one batch.
 * Null if that cannot be determined: a node without batches, one that generates sequences
 * concurrently, one that reports no pre- and post-processing, or more equal times than a batch can
 * hold.
 */
export function sizesOfBatches(
  records: SampleRecords,
  audit: NetworkAudit | null,
): number[] | null {
  const { rowCount, node: nodes, service, completedNs } = records;
  const { preprocessNs, computeNs, postprocessNs } = service;
  const largest = (audit?.nodes ?? []).map(({ description }) => {
    const { sequencesMax, batchSizeMax } = description?.settings ?? {};
    return Number((sequencesMax === undefined && batchSizeMax) || Number.NaN);
  });
  const counts = new Map<string, number>();
  for (let row = 0; row < rowCount; row += 1) {
    const node = nodes[row] as number;
    if (Number.isNaN(completedNs[row]) || node < 0) continue;
    const times = [preprocessNs[row], computeNs[row], postprocessNs[row]] as number[];
    if (!times.every((ns) => ns > 0) || !((largest[node] ?? Number.NaN) >= 1)) return null;
    const key = `${node} ${times.join(' ')}`;
    const count = (counts.get(key) ?? 0) + 1;
    if (count > (largest[node] as number)) return null;
    counts.set(key, count);
  }
  if (counts.size === 0) return null;
  const sizes: number[] = new Array(Math.max(...largest)).fill(0);
  for (const size of counts.values()) sizes[size - 1] = (sizes[size - 1] as number) + 1;
  return sizes;
}

/** Histogram of batch sizes; absent if they are unknown. */
export function renderBatchSizes(
  records: SampleRecords | null,
  audit: NetworkAudit | null,
): Html | null {
  const all = records === null ? null : sizesOfBatches(records, audit);
  if (all === null) return null;
  const sizes = all.slice(0, Math.max(all.findLastIndex((count) => count > 0) + 2, 4));
  const total = sizes.reduce((sum, count) => sum + count, 0);
  const samples = sizes.reduce((sum, count, i) => sum + count * (i + 1), 0);
  const highest = Math.max(...sizes);
  const area: PlotArea = {
    x: sizeAxis(sizes.length),
    y: linearAxis({ from: 0, to: highest * 1.05, title: 'batches', format: formatNumber }),
  };
  const bars = sizes.map((value, i) => ({ from: i + 0.6, to: i + 1.4, value }));
  const points = sizes.map((value, i) => [i + 1, value] as const);
  const mean = formatNumber(samples / total);
  const rows = sizes.flatMap((value, i) =>
    value === 0 ? [] : [[String(i + 1), grouped(value), formatShare(value / total)]],
  );
  return renderFigure({
    title: 'Batch sizes',
    alternative: `${grouped(total)} batches, ${mean} samples on average.`,
    drawing: html`${drawAxes(area)}${drawWindow(area, drawBars(area, bars, 'c1'))}`,
    hover: hoverData(area, [{ name: 'batches', points }], {
      x: (size) => `size ${size}`,
      y: grouped,
    }),
    caption: `${grouped(total)} batches of ${mean} samples on average. Derived: samples of a node with the same times of their batch, to the ns, are one batch.`,
    table: htmlTable(['size', 'batches', 'share'], rows, () => true),
  });
}

/** Whole numbers, a mark at some of them. */
function sizeAxis(largest: number): PlotArea['x'] {
  const every = Math.max(1, Math.ceil(largest / 8));
  const ticks = Array.from({ length: largest }, (_, i) => i + 1)
    .filter((size) => size === 1 || size % every === 0)
    .map((value) => ({ value, label: String(value) }));
  const scale = (size: number): number => Math.min(Math.max((size - 0.4) / (largest + 0.2), 0), 1);
  return { scale, ticks, title: 'samples in the batch' };
}
