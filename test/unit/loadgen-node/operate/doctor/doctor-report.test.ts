import { describe, expect, it } from 'vitest';
import { versionFindings } from '../../../../../loadgen-node/operate/doctor/examine.ts';
import {
  doctorJson,
  doctorText,
  subject,
} from '../../../../../loadgen-node/operate/doctor/finding.ts';
import { parseTcpInfo } from '../../../../../loadgen-node/operate/doctor/link-findings.ts';
import { PROTOCOL_VERSION } from '../../../../../shared/wire/protocol-versions.ts';
import { madeUpLink } from '../../../../scenes/host/measured-link.ts';

// Goal: the report says what to do, in text and for programs, and no text of another machine steers
// the terminal. Method: few findings, and the text that comes of them.

describe('the report', () => {
  const groups = [
    {
      title: 'Link',
      findings: [
        subject('mtu', 'MTU').ok('1500'),
        subject('window', 'HTTP/2 window', { windowBytes: 65_535 }).error('64 KiB', 'raise it'),
        subject('name', 'Name').unknown('a\u001b[2Jb'),
      ],
    },
  ];

  it('has one line per finding, what to do below it, and the counts', () => {
    expect(doctorText(groups)).toBe(
      [
        'Link',
        '  ok      MTU            1500',
        '  ERROR   HTTP/2 window  64 KiB',
        '                         to do: raise it',
        '  ?       Name           a\ufffd[2Jb',
        '',
        '1 error, 0 warnings, 1 ok, 1 not checkable (?)',
        '',
      ].join('\n'),
    );
  });

  it('says what is wrong, and what to do, of what is not ok alone', () => {
    const about = subject('clock', 'Clock');
    const seen = { id: 'clock', what: 'Clock' };
    const [ok, warning] = [true, false].map((isOk) => about.okIf(isOk, 'tsc', 'mend it', ': slow'));
    expect(ok).toEqual({ ...seen, state: 'ok', seen: 'tsc', advice: null });
    expect(warning).toEqual({ ...seen, state: 'warning', seen: 'tsc: slow', advice: 'mend it' });
  });

  it('has figures for programs', () => {
    expect(doctorJson(groups)).toMatchObject({ errors: 1, warnings: 0, groups });
    expect(doctorJson([])).toMatchObject({ errors: 0 });
  });
});

describe('versions', () => {
  const own = {
    components: [
      { name: 'longhaul', version: '0.1.0' },
      { name: 'node', version: '20.20.2' },
    ],
    operatingSystem: 'Linux 6.1',
  };

  it.each([
    ['the same', {}, ['ok', 'ok']],
    ['another Node.js', { components: [{ name: 'node', version: '22.1.0' }] }, ['ok', 'ok']],
    ['another longhaul', { softwareVersion: '0.2.0' }, ['ok', 'warning']],
    ['another make', { software: 'other', softwareVersion: '7' }, ['ok', 'ok']],
    ['another kernel', { operatingSystem: '' }, ['ok', 'ok', 'ok']],
    [
      'a later protocol',
      { protocolVersionMin: PROTOCOL_VERSION + 1, protocolVersionMax: 9 },
      ['error', 'ok'],
    ],
  ])('with %s', async (_case, change, states) => {
    const { probe } = await madeUpLink();
    if (probe.description === null) throw new Error('the made-up node describes itself');
    const findings = versionFindings(own, { ...probe.description, ...change });
    expect(findings.map(({ state }) => state)).toEqual(states);
  });

  it('of a node that does not describe itself are not checkable', () => {
    expect(versionFindings(own, null)).toMatchObject([{ state: 'not checkable' }]);
  });
});

describe('what ss prints', () => {
  it('is read of the connection that has sent most', () => {
    const text = [
      'ESTAB 0 0 10.0.0.1:4 10.0.0.2:50051 cubic mss:1448 pmtu:1500 bytes_sent:100',
      'ESTAB 0 9 10.0.0.1:5 10.0.0.2:50051 cubic mss:1400 pmtu:1452 bytes_sent:9000000 retrans:0/12 busy:70ms rwnd_limited:7ms(10.0%) sndbuf_limited:35ms(50.0%)',
    ].join('\n');
    expect(parseTcpInfo(text)).toEqual({
      pathMtu: 1452,
      retransmitted: 12,
    });
  });

  it.each([
    ['', null],
    ['State Recv-Q', null],
    ['ESTAB mss:1448', { pathMtu: null, retransmitted: 0 }],
  ])('may be %j', (text, expected) => {
    if (expected === null) expect(parseTcpInfo(text)).toBeNull();
    else expect(parseTcpInfo(text)).toMatchObject(expected);
  });
});
