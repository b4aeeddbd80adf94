import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderReport } from '../../../loadgen-node/present/report/report-folder.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import {
  comparisonPage,
  curvePage,
  heatMapPage,
  reportPage,
  trendPage,
} from '../../scenes/simulated-run/pages.ts';
import { reportSummary } from '../../scenes/simulated-run/summary.ts';
import { launchChromium, openPage, type WatchedPage, whyNoChromium } from './chromium.ts';

// Goal: reports, comparisons, curves and heat maps open from disk in a real browser, narrow and
// wide, light and dark, on paper and by keyboard, without a complaint. Method: pages of simulated
// runs, looked at in a headless Chromium.

const PAGES: readonly (readonly [string, () => string])[] = [
  ['report without records', () => renderReport({ summary: reportSummary(null), records: null })],
  ['report of 0 rows', () => reportPage(0)],
  ['report of 1 row', () => reportPage(1)],
  ['report of 3,000 rows', () => reportPage(3000)],
  ['report of 10^6 rows', () => reportPage(1_000_000)],
  ['comparison', comparisonPage],
  ['comparison of five', trendPage],
  ['heat map', heatMapPage],
  ['curve', curvePage],
];

/** Height of A4 without its margins of 14 mm, in CSS pixels. */
const PAPER_HEIGHT = ((297 - 28) / 25.4) * 96;
/** Its width. */
const PAPER_WIDTH = ((210 - 28) / 25.4) * 96;

describe.skipIf(whyNoChromium !== undefined)(
  `pages from disk${whyNoChromium === undefined ? '' : ` (${whyNoChromium})`}`,
  () => {
    const folder = suiteFolder();
    let browser: Browser;

    beforeAll(async () => {
      browser = await launchChromium();
    });
    afterAll(() => browser?.close());

    const open = (
      name: string,
      html: string,
      options: Parameters<typeof openPage>[2] = {},
    ): Promise<WatchedPage> => {
      const file = join(folder, `${name.replaceAll(/\W/g, '-')}.html`);
      writeFileSync(file, html);
      return openPage(browser, pathToFileURL(file).href, options);
    };

    it.each(PAGES)(
      '%s: nothing is requested, complained of, or wider than the window, and charts fill their cards',
      async (name, make) => {
        const html = make();
        for (const [width, colorScheme] of [
          [400, 'dark'],
          [1200, 'light'],
        ] as const) {
          const viewport = { width, height: 900 };
          const { page, complaints, foreignRequests } = await open(name, html, {
            viewport,
            colorScheme,
          });
          expect(complaints).toEqual([]);
          expect(foreignRequests).toEqual([]);
          const { scrollWidth, background, fills } = await page.evaluate(() => ({
            scrollWidth: document.documentElement.scrollWidth,
            background: getComputedStyle(document.body).backgroundColor,
            // Of each chart's card, without its padding.
            fills: [...document.querySelectorAll('figure svg:not(.window, .legend svg)')].map(
              (chart) => {
                const card = chart.closest('figure') as HTMLElement;
                return chart.getBoundingClientRect().width / card.getBoundingClientRect().width;
              },
            ),
          }));
          expect(scrollWidth).toBeLessThanOrEqual(width);
          expect(fills.filter((share) => share < 0.85)).toEqual([]);
          expect(background).toBe(
            colorScheme === 'dark' ? 'rgb(18, 21, 26)' : 'rgb(255, 255, 255)',
          );
          await page.context().close();
        }
      },
    );

    it.each(PAGES)(
      '%s: is light on paper, and no chart is larger than a sheet',
      async (name, make) => {
        const viewport = { width: Math.floor(PAPER_WIDTH), height: 900 };
        const { page } = await open(name, make(), { viewport, colorScheme: 'dark' });
        await page.emulateMedia({ media: 'print' });
        const { background, figures, cut, width } = await page.evaluate(() => {
          const boxes = [...document.querySelectorAll('figure')].map((one) =>
            one.getBoundingClientRect(),
          );
          return {
            background: getComputedStyle(document.body).backgroundColor,
            figures: boxes.map(({ height }) => height),
            cut: boxes.filter(({ right }) => right > document.documentElement.clientWidth + 1)
              .length,
            width: document.documentElement.scrollWidth,
          };
        });
        expect(background).toBe('rgb(255, 255, 255)');
        expect(cut).toBe(0);
        expect(width).toBeLessThanOrEqual(viewport.width);
        for (const height of figures) expect(height).toBeLessThan(PAPER_HEIGHT);
        const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true });
        expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
        await page.context().close();
      },
    );

    it('goes by keyboard from the skip link to every chart, each with its words', async () => {
      const { page } = await open('keyboard', reportPage(3000), {});
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.className)).toBe('skip');
      await page.keyboard.press('Enter');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');
      const charts = await page.getByRole('img').count();
      const seen = new Set<string>();
      for (let i = 0; i < 60; i += 1) {
        await page.keyboard.press('Tab');
        const label = await page.evaluate(() =>
          document.activeElement?.getAttribute('role') === 'img'
            ? document.activeElement.getAttribute('aria-label')
            : null,
        );
        if (label !== null) seen.add(label);
      }
      expect(charts).toBeGreaterThan(6);
      expect(seen.size).toBe(charts);
      for (const label of seen) expect(label).toMatch(/^[A-Z].+\. .*\d/);
      await page.context().close();
    });

    it('reads the values below a pointer, zooms along x, and shows all again', async () => {
      const { page, complaints } = await open('hover', reportPage(3000), {});
      const figure = page.locator('figure', { hasText: 'Latency over time' });
      const chart = figure.locator('svg[data-hover]');
      await chart.scrollIntoViewIfNeeded();
      const box = await chart.boundingBox();
      if (box === null) throw new Error('the chart is not shown');
      const at = (share: number) => [box.x + box.width * share, box.y + box.height / 2] as const;
      await page.mouse.move(...at(0.5));
      const tip = figure.locator('.tip');
      expect(await tip.textContent()).toMatch(/^[\d.]+ sp50 [\d.]+ m?s.*largest [\d.]+ m?s$/);
      const ticks = () => chart.locator('text.axis').allTextContents();
      const before = await ticks();
      await page.mouse.down();
      await page.mouse.move(...at(0.7));
      await page.mouse.up();
      const all = figure.getByRole('button', { name: 'Show all' });
      expect(await all.isVisible()).toBe(true);
      expect(await ticks()).not.toEqual(before);
      expect(await chart.locator('.columns').isVisible()).toBe(false);
      await all.click();
      expect(await ticks()).toEqual(before);
      await chart.focus();
      await page.keyboard.press('Home');
      expect(await tip.textContent()).toMatch(/^[\d.]+ sp50/);
      await page.keyboard.press('+');
      expect(await all.isVisible()).toBe(true);
      await page.keyboard.press('Escape');
      expect(await all.isVisible()).toBe(false);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('fits y to what is visible when it is zoomed', async () => {
      const { page, complaints } = await open('fit', reportPage(3000), {});
      const chart = page
        .locator('figure', { hasText: 'Histogram of latency' })
        .locator('svg[data-hover]');
      await chart.scrollIntoViewIfNeeded();
      const box = await chart.boundingBox();
      if (box === null) throw new Error('the chart is not shown');
      const at = (share: number) => [box.x + box.width * share, box.y + box.height / 2] as const;
      const window = chart.locator('.window');
      const heightOf = async () =>
        Number((await window.getAttribute('viewBox'))?.split(' ')[3] ?? Number.NaN);
      const rowsOf = () => chart.locator('text.axis.end:visible').allTextContents();
      const [height, rows] = [await heightOf(), await rowsOf()];
      await page.mouse.move(...at(0.2));
      await page.mouse.down();
      await page.mouse.move(...at(0.35));
      await page.mouse.up();
      expect(await heightOf()).toBeLessThan(height * 0.8);
      expect(await chart.locator('.rows').isVisible()).toBe(false);
      const zoomed = await rowsOf();
      expect(zoomed.length).toBeGreaterThan(2);
      expect(zoomed).not.toEqual(rows);
      await page.keyboard.press('Escape');
      await chart.dblclick();
      expect(await heightOf()).toBe(height);
      expect(await rowsOf()).toEqual(rows);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('reads the loads of a curve, and keeps dots and bound in their places when it is zoomed', async () => {
      const { page, complaints } = await open('curve-hover', curvePage(), {});
      const figure = page.locator('figure');
      const chart = figure.locator('svg[data-hover]');
      await chart.focus();
      await page.keyboard.press('Home');
      const tip = figure.locator('.tip');
      expect(await tip.textContent()).toMatch(
        /^10 samples\/sload 10 queries\/sp50 3 ms \(2\.7 ms to 3\.3 ms\).*p99 10 ms .*queries 100$/,
      );
      await page.keyboard.press('End');
      expect(await tip.textContent()).toContain('LoadGen was the limit: <lag>');
      const dots = chart.locator('circle[data-x]:visible');
      const all = await dots.count();
      await page.keyboard.press('Home');
      for (let i = 0; i < 3; i += 1) await page.keyboard.press('+');
      expect(await dots.count()).toBeLessThan(all);
      expect(await dots.count()).toBeGreaterThan(0);
      const plot = await chart.boundingBox();
      for (const dot of await dots.all()) {
        const place = await dot.boundingBox();
        expect(place?.x).toBeGreaterThan((plot?.x ?? 0) + 30);
        expect(place?.y).toBeGreaterThan(plot?.y ?? 0);
      }
      expect(await chart.locator('.bound-text').isVisible()).toBe(false);
      await page.keyboard.press('Escape');
      expect(await dots.count()).toBe(all);
      expect(await chart.locator('.bound-text').isVisible()).toBe(true);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it('has no element twice under one id, and only headings in order', async () => {
      const { page } = await open('order', reportPage(3000), {});
      const { ids, levels } = await page.evaluate(() => ({
        ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
        levels: [...document.querySelectorAll('h1, h2, h3')].map(({ tagName }) =>
          Number(tagName[1]),
        ),
      }));
      expect(new Set(ids).size).toBe(ids.length);
      expect(levels[0]).toBe(1);
      const jumps = levels.slice(1).map((level, i) => level - (levels[i] as number));
      expect(Math.max(...jumps)).toBeLessThanOrEqual(1);
      await page.context().close();
    });
  },
);
