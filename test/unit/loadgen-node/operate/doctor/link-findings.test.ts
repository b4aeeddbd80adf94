import { describe, expect, it } from 'vitest';
import type { DoctorFinding } from '../../../../../loadgen-node/operate/doctor/finding.ts';
import { wayFindings } from '../../../../../loadgen-node/operate/doctor/link-findings.ts';
import { throughputFindings } from '../../../../../loadgen-node/operate/doctor/throughput-findings.ts';
import { type LinkChange, madeUpLink } from '../../../../scenes/host/measured-link.ts';

// Goal: what slows a link is named, with what to do, and nothing is called slow that is not.
// Method: a made-up good link of which one thing is changed at a time.

async function findingsOf(change: LinkChange): Promise<DoctorFinding[]> {
  const link = await madeUpLink(change);
  return [...wayFindings(link), ...throughputFindings(link)];
}

async function finding(change: LinkChange, id: string): Promise<DoctorFinding | undefined> {
  return (await findingsOf(change)).find((one) => one.id === id);
}

const slow = (bitsPerSecond: number) => ({
  bitsPerSecond,
  loadgenBusyShare: 0.1,
  sutBusyShare: 0.1,
});

describe('a link', () => {
  it('without anything wrong is ok in all', async () => {
    const findings = await findingsOf({});
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(findings.map(({ id }) => id)).toEqual([
      'nic-loadgen',
      'nic-sut',
      'between',
      'mtu',
      'round-trip',
      'http2-window-to-sut',
      'socket-buffers-to-sut',
      'http2-window-from-sut',
      'socket-buffers-from-sut',
      'throughput-to-sut',
      'throughput-from-sut',
      'retransmissions',
    ]);
  });

  it.each<[string, string, string, LinkChange, RegExp]>([
    [
      'a window of 64 KiB at 10 ms',
      'http2-window-to-sut',
      'warning',
      { roundTripMs: 10, sutWindowBytes: 65_535, toSut: slow(28e6) },
      /^longhaul sut --receive-window-bytes 33554432$/,
    ],
    [
      'small socket buffers',
      'socket-buffers-to-sut',
      'warning',
      { roundTripMs: 10, bufferBytes: 2 ** 22, toSut: slow(1e9) },
      /net.ipv4.tcp_rmem="4096 131072 33554432"/,
    ],
    [
      'buffers that nobody tells',
      'socket-buffers-to-sut',
      'not checkable',
      { bufferBytes: null },
      /^$/,
    ],
    ['half duplex', 'nic-loadgen', 'error', { card: { duplex: 'half' } }, /ethtool -s eth0/],
    ['a card without a speed', 'nic-sut', 'not checkable', { sutCard: { speedMbps: null } }, /^$/],
    ['a node that reports no card', 'nic-sut', 'not checkable', { sutCard: null }, /^$/],
    ['unlike packet sizes', 'mtu', 'warning', { sutCard: { mtu: 9000 } }, /mtu/],
    ['a smaller packet on the way', 'mtu', 'warning', { tcp: { pathMtu: 1400 } }, /mtu/],
    ['lost packets', 'retransmissions', 'warning', { tcp: { retransmitted: 7000 } }, /ethtool -S/],
    ['one machine', 'route', 'warning', { isOneMachine: true }, /another machine/],
    [
      'round trips that vary',
      'round-trip',
      'warning',
      { probe: { nameRoundTripNs: [1e6, 9e6, 9e6] } },
      /busy/,
    ],
    [
      'an old node',
      'throughput-to-sut',
      'not checkable',
      { toSut: { bitsPerSecond: null, whyMissing: 'it is older' } },
      /^$/,
    ],
  ])('with %s is told so', async (_case, id, state, change, advice) => {
    const found = await finding(change, id);
    expect(found?.state).toBe(state);
    expect(found?.advice ?? '').toMatch(advice);
  });

  it('with windows and buffers that are small, and not what limits, is told what they could be', async () => {
    const change = {
      roundTripMs: 10,
      bufferBytes: 2 ** 22,
      sutWindowBytes: 2 ** 22,
      toSut: slow(95e6),
    };
    for (const id of ['http2-window-to-sut', 'socket-buffers-to-sut']) {
      expect(await finding(change, id)).toMatchObject({ state: 'ok', advice: expect.any(String) });
    }
  });

  it.each<[string, LinkChange, RegExp]>([
    ['the card', { toSut: { bitsPerSecond: 9.4e9 } }, /limited by the card/],
    [
      'the window',
      { roundTripMs: 10, sutWindowBytes: 65_535, toSut: slow(28e6) },
      /HTTP\/2 window x round trip/,
    ],
    [
      'the buffers',
      { roundTripMs: 10, bufferBytes: 2 ** 21, toSut: slow(6e8) },
      /receiver's socket buffer/,
    ],
    [
      'the LoadGen CPU',
      { toSut: { bitsPerSecond: 3e9, loadgenBusyShare: 0.95, sutBusyShare: 0.5 } },
      /CPU of the LoadGen node/,
    ],
    [
      'the SUT CPU',
      { toSut: { bitsPerSecond: 3e9, loadgenBusyShare: 0.5, sutBusyShare: 0.95 } },
      /CPU of the SUT node/,
    ],
    ['the path', { toSut: slow(95e6) }, /the path.*the card has 10 Gbit\/s/],
    ['what both ends share', { isOneMachine: true, toSut: slow(5e9) }, /both ends share its CPUs/],
  ])('is limited by %s', async (_case, change, text) => {
    expect((await finding(change, 'throughput-to-sut'))?.seen).toMatch(text);
  });
});
