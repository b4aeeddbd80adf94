import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';
import { launchChromium, openPage, whyNoChromium } from '../browser/chromium.ts';

// Goal: docs/pictures/live-page.png shows the live page as this version makes it. Method: a real
// run against two nodes with known times of service, looked at in its 40th second by a headless
// Chromium. Nothing is compared: it is for people.

const FOLDER = fileURLToPath(new URL('../../../docs/pictures/', import.meta.url));
const BYTES_MAX = 150_000;
const WIDTH = 1000;
const HEIGHT = 1180;

const NODE = ['--benchmark', 'delay', '--delay-concurrency', '4', '--delay-model'];
const LOAD = ['--target-qps', '150', '--min-duration', '50s', '--sample-bytes', '4096'];

describe.skipIf(whyNoChromium !== undefined)(
  `picture of the live page${whyNoChromium === undefined ? '' : ` (${whyNoChromium})`}`,
  () => {
    it('live-page', async () => {
      mkdirSync(FOLDER, { recursive: true });
      const nodes = [
        await SutNodeProcess.start('sut-a', [...NODE, 'exponential:8ms']),
        await SutNodeProcess.start('sut-b', [...NODE, 'exponential:12ms']),
      ];
      const sut = nodes.map(({ address }) => address).join(',');
      const output = ['--output', 'results/first'];
      const verb = ['run', '--sut', sut, '--benchmark', 'delay', ...LOAD, ...output];
      const run = spawnLonghaul([...verb, '--dashboard', '127.0.0.1:0'], { cwd: suiteFolder() });
      const browser = await launchChromium();
      try {
        await run.says(/live page at (http:\S+)/);
        const [, url = ''] = /live page at (http:\S+)/.exec(run.stderr) ?? [];
        const viewport = { width: WIDTH, height: HEIGHT };
        const { page, complaints } = await openPage(browser, url, { viewport });
        const progress = page.locator('#progress p');
        await expect.poll(() => progress.textContent(), { timeout: 90_000 }).toContain(': 0:40');
        const path = join(FOLDER, 'live-page.png');
        await sharp(await page.screenshot())
          .png({ palette: true, colours: 128 })
          .toFile(path);
        expect(complaints).toEqual([]);
        expect(statSync(path).size).toBeLessThan(BYTES_MAX);
      } finally {
        await browser.close();
        run.kill('SIGINT');
        await run.ended;
        for (const node of nodes) await node.stop();
      }
    });
  },
);
