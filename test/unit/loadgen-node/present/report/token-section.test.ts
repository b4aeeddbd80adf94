import { describe, expect, it } from 'vitest';
import { renderReport } from '../../../../../loadgen-node/present/report/report-folder.ts';
import { tokenReportPage } from '../../../../scenes/simulated-run/pages.ts';
import { queueRecords } from '../../../../scenes/simulated-run/records.ts';
import { reportSummary } from '../../../../scenes/simulated-run/summary.ts';
import { type TokenQueue, tokenRecords } from '../../../../scenes/simulated-run/token-queue.ts';

// Goal: the report of a token model shows both times against their bounds, over time and by length,
// and no chart of what was not measured. Method: simulated sequences whose first token takes 60 µs
// for each token of the prompt, and 10 ms beside.

const QUEUE: TokenQueue = {
  ...{ sequences: 1000, firstTokenNs: 10e6, tokenNs: 5e6, perSequenceNs: 0 },
  ...{ length: { law: 'geometric', mean: 100 }, seed: 5 },
};
const BOUNDS = { ttftNs: 90e6, tpotNs: 6e6 };

function pageOf(tokenBounds: typeof BOUNDS | null, rowCount = 3000): string {
  const records = tokenRecords(QUEUE, 5, rowCount);
  return renderReport({ summary: reportSummary(records, 'Server', { tokenBounds }), records });
}

/** A chart: all behind its title, up to the next one. */
function chart(page: string, title: string): string {
  return (page.split(`<h3>${title}</h3>`)[1] ?? '').split('</figure>')[0] ?? '';
}

/** Cells of the table of a chart. */
function rowsOf(text: string): string[][] {
  return [...text.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) => cell),
  );
}

describe('the tokens of a report', () => {
  it('are charts of both times, each with its bound', () => {
    const page = pageOf(BOUNDS);
    for (const [title, bound] of [
      ['Time to the first token', '90 ms'],
      ['Time per output token', '6 ms'],
    ] as const) {
      for (const of of ['', ' over time', ' by prompt length', ' by answer length']) {
        expect(chart(page, `${title}${of}`), `${title}${of}`).toContain(`bound ${bound}`);
      }
    }
    // The script of its charts aside.
    const text = page.replace(/<script type="module">.*<\/script>/s, '');
    expect(/NaN|Infinity|undefined/.test(text)).toBe(false);
  });

  it('group samples by length, with the times of each group', () => {
    const rows = rowsOf(chart(pageOf(BOUNDS), 'Time to the first token by prompt length')).slice(1);
    expect(rows).toHaveLength(12);
    expect(rows.reduce((sum, [, samples]) => sum + Number(samples), 0)).toBe(3000);
    for (const [tokens = '', , p50 = ''] of rows) {
      const [from = 0, to = from] = tokens.split(' - ').map(Number);
      const ms = Number(/^([\d.]+) ms$/.exec(p50)?.[1]);
      expect(ms).toBeGreaterThanOrEqual(10 + from * 0.06 - 0.1);
      expect(ms).toBeLessThanOrEqual(10 + to * 0.06 + 0.1);
    }
  });

  it('draw no percentile of few samples, which would be the largest of them', () => {
    const legend = (text: string): string => text.split('</ul>')[0] ?? '';
    const few = pageOf(BOUNDS, 600);
    for (const title of ['by prompt length', 'by answer length', 'over time']) {
      const name = `Time to the first token ${title}`;
      expect(legend(chart(few, name)), title).toContain('p90');
      expect(legend(chart(few, name)), title).not.toContain('p99');
      expect(
        legend(chart(pageOf(BOUNDS, 3000), 'Time per output token by answer length')),
      ).toContain('p99');
    }
    expect(chart(few, 'Time to the first token')).not.toContain('p99.9');
    expect(chart(pageOf(BOUNDS), 'Time to the first token')).toContain('p99.9');
  });

  it('tell how many answers were under way at once, of all the time', () => {
    const rows = rowsOf(chart(pageOf(BOUNDS), 'Answers under way')).slice(1);
    const shares = rows.map(([, share = '']) => Number(/^[\d.]+/.exec(share)?.[0]));
    expect(rows.map(([count]) => count)).toEqual(rows.map((_, count) => String(count)));
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(100, 0);
    // 5 a second, 100 tokens of 5 ms each behind the first: 2.5 in the mean.
    const mean = shares.reduce((sum, share, count) => sum + (share * count) / 100, 0);
    expect(mean).toBeGreaterThan(2);
    expect(mean).toBeLessThan(3);
  });

  it('leave out what a run does not have', () => {
    const unbounded = pageOf(null);
    expect(chart(unbounded, 'Time per output token')).not.toContain('bound');
    // Too few samples for groups, and samples that are no tokens.
    expect(pageOf(BOUNDS, 30)).not.toContain('by prompt length');
    const records = queueRecords({ rowCount: 3000, hasTokens: true, arrivalQps: 90 });
    const page = renderReport({ summary: reportSummary(records), records });
    expect(page).not.toContain('by prompt length');
    expect(page).toContain('Time to the first token by answer length');
    const plain = queueRecords({ rowCount: 300, arrivalQps: 90 });
    expect(renderReport({ summary: reportSummary(plain), records: plain })).not.toContain(
      'Tokens<',
    );
  });

  it('stay within the size of a report', () => {
    expect(tokenReportPage(20_000).length).toBeLessThan(250_000);
  });
});
