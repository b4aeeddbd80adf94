import { describe, expect, it } from 'vitest';
import { callPathOf } from '../../../../qdl/connect/call-path.ts';
import { HEADERS_MAX, keptHeaders, plainAddress } from '../../../../shared/evidence/call-path.ts';

// Goal: what is kept of a call is bounded, holds no secret, and lets two ends compare addresses.
// Method: calls by hand.

describe('headers that are kept', () => {
  it('have values only where those hold no secret, and no pseudo-headers', () => {
    const { headers } = keptHeaders([
      [':path', '/service/Name'],
      ['authorization', 'Bearer secret'],
      ['x-forwarded-client-cert', 'secret'],
      ['cookie', 'secret'],
      ['via', '1.1 proxy'],
      ['te', 'trailers'],
    ]);
    expect(headers).toEqual([
      { name: 'authorization', value: '' },
      { name: 'x-forwarded-client-cert', value: '' },
      { name: 'cookie', value: '' },
      { name: 'via', value: '1.1 proxy' },
      { name: 'te', value: 'trailers' },
    ]);
  });

  it('are bounded in number and length, and what is left out is counted', () => {
    const many = Array.from({ length: HEADERS_MAX + 3 }, () => ['via', 'x'.repeat(1_000)] as const);
    const { headers, leftOut } = keptHeaders([['y'.repeat(1_000), ''], ...many]);
    expect([headers.length, leftOut]).toEqual([HEADERS_MAX, 4]);
    expect([headers[0]?.name.length, headers[1]?.value.length]).toEqual([64, 128]);
  });
});

it.each([
  ['10.0.0.2', '10.0.0.2'],
  ['::ffff:10.0.0.2', '10.0.0.2'],
  ['fe80::1%eth0', 'fe80::1'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:db8:0:0:0:0:0:1', '2001:db8::1'],
  ['', ''],
])('the address %j is told as %j', (address, told) => {
  expect(plainAddress(address)).toBe(told);
});

describe('what a node tells of a call', () => {
  const own = { loadgen: null, responseHeaders: [] };
  const ends = { peerAddress: '10.0.0.1', peerPort: 4, nodeAddress: '10.0.0.2', nodePort: 5 };

  it('is held to the same bounds, in one line, and without secrets', () => {
    const headers = [
      { name: 'Via', value: 'one\nResult VALID' },
      { name: 'x-secret', value: 'secret' },
    ];
    const path = callPathOf(own, { ...ends, headers, headersLeftOut: 2 });
    expect(path.requestHeaders).toEqual([
      { name: 'via', value: 'one\ufffdResult VALID' },
      { name: 'x-secret', value: '' },
    ]);
    expect(path.requestHeadersLeftOut).toBe(2);
    expect(path.sut).toMatchObject({ localAddress: '10.0.0.2', remotePort: 4 });
  });

  it('is bounded whatever its number', () => {
    const headers = Array.from({ length: 100 }, () => ({ name: 'via', value: 'x'.repeat(1_000) }));
    const path = callPathOf(own, { ...ends, headers, headersLeftOut: 2 });
    expect([path.requestHeaders?.length, path.requestHeadersLeftOut]).toEqual([HEADERS_MAX, 70]);
  });

  it('is no address where it is no IP address, and nothing where it is absent', () => {
    const wrong = { ...ends, peerAddress: 'a\nb', headers: [], headersLeftOut: 0 };
    expect(callPathOf(own, wrong).sut).toBeNull();
    expect(callPathOf(own, null)).toMatchObject({ sut: null, requestHeaders: null });
  });
});
