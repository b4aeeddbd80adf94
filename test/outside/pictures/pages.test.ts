import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import {
  comparisonPage,
  heatMapPage,
  reportPage,
  tokenReportPage,
  trendPage,
} from '../../scenes/simulated-run/pages.ts';
import { launchChromium, openPage, whyNoChromium } from '../browser/chromium.ts';

// Goal: the pictures of the README and docs show what this version makes. Method: pages of
// simulated runs, from fixed seeds, in a headless Chromium. Nothing is compared: the pictures are
// for people.

const FOLDER = fileURLToPath(new URL('../../../docs/pictures/', import.meta.url));

/** A README shows pictures about 830 px wide; larger files make it slow. */
const WIDTH = 1000;
const BYTES_MAX = 150_000;

/** Name, colours, page, height, and the place of the page that it begins at. */
const PICTURES = [
  ['report', 'light', () => reportPage(20_000), 1480, ''],
  ['report-dark', 'dark', () => reportPage(20_000), 1480, ''],
  ['compare', 'light', comparisonPage, 1250, ''],
  ['trend', 'light', trendPage, 1250, ''],
  ['token-report', 'light', () => tokenReportPage(6_000), 1690, '#tokens'],
  ['heat-map', 'light', heatMapPage, 620, ''],
] as const;

describe.skipIf(whyNoChromium !== undefined)(
  `pictures${whyNoChromium === undefined ? '' : ` (${whyNoChromium})`}`,
  () => {
    const folder = suiteFolder();
    let browser: Browser;

    beforeAll(async () => {
      mkdirSync(FOLDER, { recursive: true });
      browser = await launchChromium();
    });
    afterAll(() => browser?.close());

    it.each(PICTURES)('%s', async (name, colorScheme, make, height, place) => {
      const file = join(folder, `${name}.html`);
      writeFileSync(file, make());
      const viewport = { width: WIDTH, height };
      const { page, complaints } = await openPage(browser, `${pathToFileURL(file).href}${place}`, {
        viewport,
        colorScheme,
      });
      const path = join(FOLDER, `${name}.png`);
      await sharp(await page.screenshot())
        .png({ palette: true, colours: 128 })
        .toFile(path);
      await page.context().close();
      expect(complaints).toEqual([]);
      expect(statSync(path).size).toBeLessThan(BYTES_MAX);
    });
  },
);
