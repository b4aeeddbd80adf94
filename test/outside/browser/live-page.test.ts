import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type LiveSnapshot, POINTS_MAX } from '../../../loadgen-node/observe/live/live-snapshot.ts';
import type { RunVerdict, ToLiveThread } from '../../../loadgen-node/present/live/live-state.ts';
import { startPageServer } from '../../../loadgen-node/present/live/page-server.ts';
import { suiteFolder } from '../../scenes/host/folders.ts';
import { longhaul, SutNodeProcess, spawnLonghaul } from '../../scenes/host/processes.ts';
import { liveSecond } from '../../scenes/simulated-run/summary.ts';
import { TcpShim } from '../../scenes/sut-node/tcp-shim.ts';
import { launchChromium, openPage, type WatchedPage, whyNoChromium } from './chromium.ts';

// Goal: the live page shows a run in a real browser, whatever its history is, without a complaint
// of the browser. Method: the built page, fed with made-up seconds by the server that a run has;
// then a real run. Pictures are left in the folder that PICTURES names, to be looked at.

const FACTS = {
  title: 'made-up',
  benchmark: 'delay',
  scenario: 'Server',
  mode: 'PerformanceOnly',
  output: 'results/<img src=x onerror=alert(1)>',
};

const INVALID: RunVerdict = {
  state: 'INVALID',
  cause: null,
  reasons: ['The latency bound is missed: p99 is 28 ms, the bound is 15 ms.'],
  figures: [{ label: 'Latency p99', value: '28 ms' }],
};

describe.skipIf(whyNoChromium !== undefined)(
  `live page${whyNoChromium === undefined ? '' : ` (${whyNoChromium})`}`,
  () => {
    let browser: Browser;
    let server: Awaited<ReturnType<typeof startPageServer>>;
    let watched: WatchedPage;

    beforeAll(async () => {
      browser = await launchChromium();
    });
    afterAll(() => browser?.close());
    afterEach(async () => {
      await watched.page.context().close();
      await server.close();
    });

    const open = async (
      messages: readonly ToLiveThread[],
      options: Parameters<typeof openPage>[2] = {},
    ): Promise<WatchedPage> => {
      server = await startPageServer({ host: '127.0.0.1', port: 0 });
      for (const message of messages) server.apply(message);
      watched = await openPage(browser, server.url, { viewport: SIZE, ...options });
      await watched.page.getByRole('status').filter({ hasNotText: 'connecting' }).waitFor();
      return watched;
    };
    const SIZE = { width: 1280, height: 900 };

    const expectNoComplaint = (): void => {
      expect(watched.complaints).toEqual([]);
      expect(watched.foreignRequests).toEqual([]);
    };

    const picture = async (name: string): Promise<void> => {
      const folder = process.env['PICTURES'];
      if (folder === undefined) return;
      await watched.page.screenshot({ path: `${folder}/live-${name}.png`, fullPage: true });
    };

    it('shows a run that has nothing to show yet', async () => {
      const { page } = await open([begin()]);
      await expect.poll(() => page.getByRole('status').textContent()).toBe('running');
      expect(await page.locator('#now').textContent()).toContain('not yet measured');
      expect(await page.locator('figure').count()).toBe(8);
      await picture('none');
      expectNoComplaint();
    });

    it('shows a single second, with values that are not there', async () => {
      const second: LiveSnapshot = {
        ...liveSecond(1),
        latency: null,
        overall: null,
        lag: null,
        split: null,
        completedPerS: Number.NaN,
        share: null,
        remainingS: null,
      };
      const { page } = await open([begin(), nodes(2), { kind: 'snapshot', snapshot: second }]);
      await expect.poll(() => page.locator('#now').textContent()).toContain('Latency p99-');
      expect(await page.locator('#nodes tbody tr').count()).toBe(2);
      await picture('one');
      expectNoComplaint();
    });

    it('shows a million seconds, of which as many points are left as can be drawn', async () => {
      server = await startPageServer({ host: '127.0.0.1', port: 0 });
      server.apply(begin());
      server.apply(nodes(2));
      for (let second = 1; second <= 1e6; second += 1) server.apply(snapshot(second));
      watched = await openPage(browser, server.url, { viewport: SIZE });
      const { page } = watched;
      await expect.poll(() => page.locator('#resolution').textContent()).toContain('1024 s');
      await expect.poll(() => page.locator('#now').textContent()).toContain('100,000,000');
      await picture('million');
      expect(POINTS_MAX).toBeLessThan(2000);
      expectNoComplaint();
    });

    it('goes on second by second, and keeps all it has when the run ends', async () => {
      const seconds = Array.from({ length: 60 }, (_, i) => snapshot(i + 1));
      const { page } = await open([begin(), nodes(2), ...seconds]);
      server.apply(snapshot(61));
      await expect.poll(() => page.locator('#progress p').textContent()).toContain('1:01');
      server.apply({ kind: 'end', verdict: INVALID });
      await expect.poll(() => page.locator('#verdict h2').textContent()).toBe('✗ INVALID');
      await server.close();
      await expect.poll(() => page.getByRole('status').textContent()).toBe('run ended: INVALID');
      await page.getByText('The last seconds as a table').click();
      await expect.poll(() => page.locator('#seconds tbody tr').count()).toBe(20);
      // Names of runs and nodes are text, never markup.
      expect(await page.locator('#run img').count()).toBe(0);
      expect(await page.title()).toBe('INVALID: delay Server - longhaul');
      await picture('ended');
      expectNoComplaint();
    });

    it('comes back when the connection was lost, with all that happened', async () => {
      server = await startPageServer({ host: '127.0.0.1', port: 0 });
      for (const message of [begin(), nodes(2), snapshot(1)]) server.apply(message);
      const shim = await TcpShim.start(new URL(server.url).host);
      watched = await openPage(browser, `http://${shim.address}/`);
      const { page } = watched;
      await expect.poll(() => page.locator('#progress p').textContent()).toContain('0:01');
      shim.reset();
      await expect.poll(() => page.getByRole('status').textContent()).toContain('no connection');
      server.apply(snapshot(2));
      await expect
        .poll(() => page.locator('#progress p').textContent(), { timeout: 10_000 })
        .toContain('0:02');
      expect(await page.getByRole('status').textContent()).toBe('running');
      shim.stop();
    });

    it('shows 64 nodes, of which one never answers and one is lost', async () => {
      const seconds = Array.from({ length: 90 }, (_, i) => {
        const second = liveSecond(i + 1, { nodeCount: 64 });
        const meanNs = second.nodes.meanNs.map((ns, node) => (node === 3 ? null : ns));
        return {
          kind: 'snapshot',
          snapshot: { ...second, nodes: { ...second.nodes, meanNs, lost: [5] } },
        } as const;
      });
      const { page } = await open([begin(), nodes(64), ...seconds]);
      await expect.poll(() => page.locator('#nodes tbody tr').count()).toBe(64);
      expect(await page.locator('#nodes tbody tr').nth(3).textContent()).toContain('-');
      expect(await page.locator('#nodes tbody tr').nth(5).textContent()).toContain('lost');
      await picture('nodes');
      expectNoComplaint();
    });

    it('hides the charts of what no node tells', async () => {
      const seconds = [1, 2, 3].map((second) => {
        const silent = { ...liveSecond(second), split: null };
        return { kind: 'snapshot', snapshot: silent } as const;
      });
      const { page } = await open([begin(), nodes(2), ...seconds]);
      await expect.poll(() => page.locator('#progress p').textContent()).toContain('0:03');
      expect(await page.getByText('Where the time goes').isVisible()).toBe(false);
      expect(await page.getByRole('heading', { name: 'Dispatch lag' }).isVisible()).toBe(true);
      expectNoComplaint();
    });

    it('fits 400 pixels in the dark, without motion', async () => {
      const seconds = Array.from({ length: 120 }, (_, i) => snapshot(i + 1));
      const { page } = await open([begin(), nodes(2), ...seconds], {
        viewport: { width: 400, height: 800 },
        colorScheme: 'dark',
        reducedMotion: 'reduce',
      });
      await expect.poll(() => page.locator('#nodes tbody tr').count()).toBe(2);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(400);
      await picture('small-dark');
      expectNoComplaint();
    });

    it('is used by keyboard: lines are hidden, points are read', async () => {
      const seconds = Array.from({ length: 30 }, (_, i) => snapshot(i + 1));
      const { page } = await open([begin(), nodes(2), ...seconds]);
      const figure = page.locator('figure').nth(1);
      const button = figure.getByRole('button', { name: /^p99 / });
      await button.focus();
      await page.keyboard.press('Enter');
      expect(await button.getAttribute('aria-pressed')).toBe('false');
      await figure.locator('.plot').focus();
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowRight');
      await expect
        .poll(() => figure.locator('[aria-live]').textContent())
        .toMatch(/^0:02: p50 [\d.]+ ms, p90/);
      await picture('keyboard');
      expectNoComplaint();
    });
  },
);

describe.skipIf(whyNoChromium !== undefined)('live page of a real run', () => {
  it('shows the run while it goes on, and its verdict', async () => {
    const browser = await launchChromium();
    const sut = await SutNodeProcess.start('sut-a', []);
    try {
      const verb = ['run', '--sut', sut.address, '--benchmark', 'digits', '--target-qps', '50'];
      const output = ['--output', `${suiteFolder()}/run`, '--min-duration', '6s'];
      const run = spawnLonghaul([...verb, ...output, '--dashboard', '127.0.0.1:0']);
      await run.says(/live page at (http:\S+)/);
      const [, url = ''] = /live page at (http:\S+)/.exec(run.stderr) ?? [];
      const { page, complaints } = await openPage(browser, url);
      await expect.poll(() => page.locator('#nodes td').first().textContent(), WAIT).toBe('sut-a');
      await expect.poll(() => page.locator('#progress p').textContent(), WAIT).toContain('0:03');
      const { stdout } = await run.ended;
      const verdict = /^(\w+)/.exec(stdout)?.[1];
      await expect.poll(() => page.getByRole('status').textContent()).toBe(`run ended: ${verdict}`);
      expect(complaints).toEqual([]);
    } finally {
      await sut.stop();
      await browser.close();
    }
  });

  it('ends the command before the run where its port is in use', async () => {
    const server = await startPageServer({ host: '127.0.0.1', port: 0 });
    const { port } = new URL(server.url);
    const { code, stderr } = await longhaul([
      ...['run', '--sut', '127.0.0.1:1', '--benchmark', 'digits', '--target-qps', '1'],
      ...['--dashboard', `:${port}`],
    ]);
    await server.close();
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${port} for --dashboard`);
    expect(code).toBe(6);
  });
});

const WAIT = { timeout: 30_000 };

function begin(): ToLiveThread {
  return { kind: 'begin', facts: FACTS };
}

function nodes(count: number): ToLiveThread {
  return { kind: 'nodes', names: Array.from({ length: count }, (_, i) => `sut-${i}`) };
}

function snapshot(second: number): ToLiveThread {
  return { kind: 'snapshot', snapshot: liveSecond(second) };
}
