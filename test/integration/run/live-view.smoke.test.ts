import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { LatencyHistogram } from '../../../loadgen-node/observe/figures/latency-histogram.ts';
import { LiveView } from '../../../loadgen-node/present/live/live-view.ts';
import { startPageServer } from '../../../loadgen-node/present/live/page-server.ts';
import { occupiedPort } from '../../scenes/host/ports.ts';
import { liveSecond } from '../../scenes/simulated-run/summary.ts';

// Goal: page and metrics of a run are served by a thread, to this machine only, and end with the
// command. Method: the compiled thread on free ports of loopback, asked by fetch.

const AT = { host: '127.0.0.1', port: 0 };
const FACTS = { title: 'r', benchmark: 'digits', scenario: 'Server', mode: 'x', output: 'r' };

describe('LiveView', () => {
  let live: LiveView | undefined;
  afterEach(() => live?.close());

  const fail = (why: string): void => {
    throw new Error(why);
  };

  it('serves page, events and metrics of what it is told, and says good-bye', async () => {
    live = await LiveView.open({ dashboard: AT, metrics: AT }, fail);
    const url = live?.dashboardUrl ?? '';
    live?.post({ kind: 'begin', facts: FACTS });
    live?.post({ kind: 'nodes', names: ['sut-a'] });
    const page = await fetch(url);
    expect(page.headers.get('content-security-policy')).toContain(
      "script-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'",
    );
    expect(await page.text()).toContain('<h1>longhaul</h1>');
    const events = await fetch(`${url}events`);
    const histogram = new LatencyHistogram();
    histogram.add(3e6);
    live?.snapshot(liveSecond(1), {
      latencyCounts: histogram.counts,
      latencySumNs: 3e6,
      lagCounts: histogram.counts,
      lagSumNs: 3e6,
      partSumsNs: new Float64Array(11),
      splitCount: 0,
    });
    live?.post({ kind: 'end', verdict: { state: 'VALID', cause: null, reasons: [], figures: [] } });
    const metrics = await (await fetch(live?.metricsUrl ?? '')).text();
    expect(metrics).toContain('longhaul_loadgen_runs_ended_total{verdict="valid"} 1');
    expect(metrics).toContain('longhaul_loadgen_sample_latency_seconds_count 1');
    await live?.close();
    const told = await events.text();
    expect(told.match(/^event: \w+/gm)).toEqual([
      'event: state',
      'event: change',
      'event: change',
      'event: bye',
    ]);
    // Distributions are for the metrics alone.
    expect(told).not.toContain('latencyCounts');
  });

  it('answers nobody who asks for another name, another path or for a change', async () => {
    live = await LiveView.open({ dashboard: AT, metrics: undefined }, fail);
    const url = live?.dashboardUrl ?? '';
    const codes = [
      await fetch(`${url}../../etc/passwd`),
      await fetch(`${url}__proto__`),
      await fetch(url, { method: 'POST' }),
      await fetch(url, { method: 'HEAD' }),
    ].map(({ status }) => status);
    expect(codes).toEqual([404, 404, 405, 200]);
  });

  it('names the port that is in use, and opens nothing', async () => {
    const { port, release } = await occupiedPort();
    const taken = { host: '127.0.0.1', port };
    await expect(LiveView.open({ dashboard: AT, metrics: taken }, fail)).rejects.toMatchObject({
      code: 'ERR_LIVE_LISTEN',
      message: `cannot listen on 127.0.0.1:${port} for --metrics-listen: the address is already in use`,
    });
    await release();
  });

  it('drops a page that does not read, and keeps the others', async () => {
    const server = await startPageServer(AT);
    const { port } = new URL(server.url);
    const socket = connect({ host: '127.0.0.1', port: Number(port) });
    socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'readable');
    const closed = once(
      socket.on('error', () => {}),
      'close',
    );
    const reader = (await fetch(`${server.url}events`)).body?.getReader();
    let told = '';
    const readUntil = async (isThere: () => boolean): Promise<void> => {
      while (!isThere()) {
        const chunk = await reader?.read();
        if (chunk === undefined || chunk.done) return;
        told += Buffer.from(chunk.value).toString('latin1');
      }
    };
    server.apply({ kind: 'begin', facts: FACTS });
    for (let bytes = 1e6; bytes <= 24e6; bytes += 1e6) {
      server.apply({ kind: 'nodes', names: ['x'.repeat(1e6)] });
      await readUntil(() => told.length > bytes);
    }
    socket.resume();
    await closed;
    const end = server.close();
    await readUntil(() => told.includes('event: bye'));
    expect(told).toMatch(/event: bye\ndata: \{\}\n\n$/);
    await end;
  });

  it('is not there where nobody asks for it', async () => {
    expect(await LiveView.open({ dashboard: undefined, metrics: undefined }, fail)).toBeUndefined();
  });
});
