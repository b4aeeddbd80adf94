import { describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../../../loadgen-node/operate/config/inspect-sections.ts';
import { printSettings } from '../../../../loadgen-node/run/plan/run-record.ts';
import { RUN_SETTINGS } from '../../../../loadgen-node/run/plan/run-settings.ts';
import { CURVE_SETTINGS } from '../../../../loadgen-node/search/curve/curve-plan.ts';
import { FIND_PEAK_SETTINGS } from '../../../../loadgen-node/search/peak/find-peak-plan.ts';
import {
  formatBeside,
  formatExactNs,
  formatNs,
  parseDuration,
} from '../../../../shared/base/text.ts';
import { addFlags, createCommand, settingsOf } from '../../../../shared/config/command-line.ts';
import {
  inspectSettings,
  parseConfigFile,
  resolveSettings,
} from '../../../../shared/config/resolve-settings.ts';
import {
  addressList,
  choice,
  count,
  countOrAuto,
  duration,
  flagOf,
  listenAddress,
  nodeName,
  percentile,
  type SettingTable,
  text,
} from '../../../../shared/config/setting.ts';
import { splitAddress } from '../../../../shared/domain/node-address.ts';
import { SUT_OPTIONS as sut } from '../../../../sut-node/settings/sut-settings.ts';

// Goal: a setting means the same as a flag and in a file, flags win, and whatever is wrong is named
// with its place. Method: a small table, read from texts.

const TABLE = {
  sut: addressList('nodes', { required: true }),
  scenario: choice(['Server', 'Offline'], 'scenario', { fallback: 'Server' }),
  minDuration: duration('length', { fallback: '10s' }),
  maxQueryCount: count({ min: 1, max: 100 }, 'most'),
  benchmark: text('name', 'benchmark'),
  targetLatencyPercentile: percentile('percentile'),
};

function resolve(text: string, flags: Record<string, string> = {}) {
  const file = parseConfigFile('c.yaml', text, ['run', 'sut']).get('run');
  return inspectSettings(TABLE, { section: 'run', file, flags });
}

describe('nodeName', () => {
  it('takes what a LoadGen node takes, and no more', () => {
    const { schema } = nodeName('help');
    expect(schema.safeParse('n'.repeat(256)).success).toBe(true);
    expect(schema.safeParse('n'.repeat(257)).error?.issues).toMatchObject([
      { message: 'must have 256 characters at most' },
    ]);
  });
});

describe('listenAddress', () => {
  it.each([
    ['0.0.0.0:50051', { host: '0.0.0.0', port: 50_051 }],
    [':50052', { host: '127.0.0.1', port: 50_052 }],
    ['50052', { host: '127.0.0.1', port: 50_052 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    ['localhost', undefined],
  ])('takes %s', (text, address) => {
    expect(listenAddress('help').schema.safeParse(text).data).toEqual(address);
  });
});

describe('what is wrong with a setting', () => {
  const tables = { run: RUN_SETTINGS, curve: CURVE_SETTINGS, peak: FIND_PEAK_SETTINGS, sut };
  const values = [null, true, 0, -1, 1e12, 0.5, '', 'x', ' ', [], [0], ['', ''], {}, [{}]];

  it.each(Object.entries(tables))('is told in our words: %s', (section, table) => {
    for (const key of Object.keys(table)) {
      for (const value of values) {
        const text = JSON.stringify({ [section]: { [key]: value } });
        const file = parseConfigFile('c.yaml', text, [section]).get(section);
        const one = { [key]: table[key as keyof typeof table] } as SettingTable;
        for (const problem of inspectSettings(one, { section, file, flags: {} }).problems) {
          expect(problem, key).not.toMatch(
            /Too (small|big)|Invalid|Unrecognized|expected|received/,
          );
        }
      }
    }
  });

  it('names all that a number or auto may be', () => {
    const table = { workers: countOrAuto({ min: 1, max: 256 }, 'workers') };
    const { problems } = inspectSettings(table, {
      ...{ section: 'sut', file: undefined, flags: { workers: '0' } },
    });
    expect(problems).toEqual(['--workers 0 must be auto, or a whole number from 1 to 256']);
  });
});

describe('settings', () => {
  it.each([
    ['one value of a list', 'sut: a:1', { sut: ['a:1'] }],
    ['a list as the flag has it', 'sut: a:1,b:2', { sut: ['a:1', 'b:2'] }],
    ['a word in any case', 'scenario: offline', { scenario: 'Offline' }],
  ])('of a file may be %s', (_case, line, values) => {
    expect(resolve(`run:\n  ${line}\n`).values).toMatchObject(values);
  });

  it('take flags before the file and the file before defaults, and tell which', () => {
    const { values, settings } = resolve('run:\n  sut: [a:1]\n  minDuration: 5s\n', {
      sut: 'b:2, c:3',
    });
    expect(values).toEqual({ sut: ['b:2', 'c:3'], scenario: 'Server', minDuration: 5e9 });
    const sources = Object.fromEntries(settings.map(({ key, source }) => [key, source]));
    expect(sources).toEqual({
      sut: 'flag --sut',
      scenario: 'default',
      minDuration: 'c.yaml:3:3',
      maxQueryCount: 'not set',
      benchmark: 'not set',
      targetLatencyPercentile: 'not set',
    });
  });

  it.each([
    [
      'an unknown key',
      'run:\n  minDurations: 5s\n',
      'c.yaml:2:3: unknown key "minDurations" in section "run"; did you mean "minDuration"?',
    ],
    ['a key that is like no other', 'run:\n  zzz: 1\n', 'there is: sut, scenario, minDuration'],
    [
      'a wrong value',
      'run:\n  minDuration: 5 parsecs\n',
      'c.yaml:2:3: minDuration: "5 parsecs" must be a duration',
    ],
    [
      'a length of time that no timer can wait for',
      'run:\n  minDuration: 9999h\n',
      'must be at most 596h',
    ],
    ['a number where a word belongs', 'run:\n  scenario: 7\n', 'must be one of: Server, Offline'],
    ['a count out of range', 'run:\n  maxQueryCount: 101\n', '101 must be 100 or less'],
    ['a fraction where a count belongs', 'run:\n  maxQueryCount: 1.5\n', 'must be a whole number'],
    ['an address without a port', 'run:\n  sut: [host]\n', 'must be host:port'],
    ['an empty list', 'run:\n  sut: []\n', 'at least one'],
    ['an address twice', 'run:\n  sut: [a:1, a:1]\n', 'must not name an address twice'],
    ['a map where a list belongs', 'run:\n  sut: {a: 1}\n', 'must be a list'],
    ['a flag that is called otherwise', 'run:\n  duration: 5s\n', 'did you mean "minDuration"?'],
    ['no text where one belongs', 'run:\n  benchmark: null\n', "write 'null' in quotes"],
  ])('name %s with its line and column', (_case, text, message) => {
    expect(resolve(text).problems.join('\n')).toContain(message);
  });

  it.each([
    ['is not YAML', 'run: [', /^c\.yaml:\d+:\d+: /],
    ['has a key twice', 'run:\n  sut: a\n  sut: b\n', /c\.yaml:3:3: the key "sut" stands twice/],
    [
      'has an unknown section',
      'runs:\n  sut: a\n',
      /c\.yaml:1:1: unknown section "runs"; there is: run, sut/,
    ],
    ['has no map where one belongs', 'run: 5\n', /a map of keys is expected/],
  ])('refuse a file that %s', (_case, text, message) => {
    expect(() => parseConfigFile('c.yaml', text, ['run', 'sut'])).toThrow(message);
  });

  it('name 20 of many unknown keys, and count the others', () => {
    const keys = Array.from({ length: 2_000 }, (_, i) => `  k${i}: 1\n`).join('');
    const { problems } = resolve(`run:\n  sut: [a:1]\n${keys}`);
    expect(problems).toHaveLength(21);
    expect(problems[19]).toMatch(/^c\.yaml:22:3: unknown key "k19"/);
    expect(problems[20]).toBe('c.yaml:23:3: 1980 more unknown keys from this line on');
  });

  it('list everything that is wrong or missing at once', () => {
    const flags = { minDuration: 'soon', scenario: 'Sever' };
    const sources = { section: 'run', file: undefined, flags };
    expect(() => resolveSettings(TABLE, sources)).toThrow(
      /--scenario "Sever" must be one of[\s\S]*--min-duration "soon" must be[\s\S]*--sut <host:port.* is needed/,
    );
  });

  it('tell the place of each wrong value in a list', () => {
    const { problems } = resolve('run:\n  sut:\n    - a:1\n    - b\n    - c:2\n    - d\n');
    expect(problems).toEqual([
      expect.stringMatching(/^c\.yaml:4:7: sut: "b" must be host:port/),
      expect.stringMatching(/^c\.yaml:6:7: sut: "d" must be host:port/),
    ]);
    expect(resolve('', { sut: 'a:1,b' }).problems).toEqual([
      expect.stringMatching(/^--sut "b" must be host:port/),
    ]);
  });

  it('have a flag of another name where they say so', async () => {
    const table = { nodes: { ...TABLE.sut, flagKey: 'node' } };
    const command = addFlags(createCommand('run', ''), table);
    await command.action(() => {}).parseAsync(['--node', 'a:1', '--node', 'b:2'], { from: 'user' });
    const { values, settings } = settingsOf(command, undefined, table);
    expect(values).toEqual({ nodes: ['a:1', 'b:2'] });
    expect(settings[0]?.source).toBe('flag --node');
  });

  it('print as YAML that can be read again', () => {
    const { settings } = resolve('run:\n  sut: [a:1]\n', { maxQueryCount: '7' });
    const text = printSettings('run', settings);
    expect(text).toContain('# flag --max-query-count');
    expect(text).toMatch(/# targetLatencyPercentile: +# not set/);
    const again = parseConfigFile('printed.yaml', text, ['run']).get('run');
    expect(again?.get('sut')?.value).toEqual(['a:1']);
    expect(again?.get('maxQueryCount')?.value).toBe(7);
  });

  it('have a JSON Schema with the same words and bounds', () => {
    const schema = JSON.stringify(configJsonSchema({ run: TABLE }));
    expect(schema).toContain('"enum":["Server","Offline"]');
    expect(schema).toContain('"maximum":100');
    expect(schema).toContain('"additionalProperties":false');
  });

  it('take percentages and give fractions', () => {
    expect(resolve('run:\n  targetLatencyPercentile: 97\n').values.targetLatencyPercentile).toBe(
      0.97,
    );
    expect(resolve('run:\n  targetLatencyPercentile: 100\n').problems[0]).toContain('below 100');
  });
});

describe('durations', () => {
  it.each([
    ['10s', 10e9],
    ['1.5ms', 1.5e6],
    ['250us', 250e3],
    ['2m', 120e9],
    ['1h', 3600e9],
    ['10', undefined],
    ['-1s', undefined],
    ['1 s', undefined],
  ])('reads %s', (text, ns) => {
    expect(parseDuration(text)).toBe(ns);
  });

  it('shows three significant figures with the unit that fits', () => {
    expect([12, 1234, 15_678_900, 2.5e9].map(formatNs)).toEqual([
      '12 ns',
      '1.23 µs',
      '15.7 ms',
      '2.5 s',
    ]);
  });

  it('shows a dash where there is none', () => {
    expect([-1, -30_178_689, Number.NaN, Number.POSITIVE_INFINITY].map(formatNs)).toEqual(
      Array.from({ length: 4 }, () => '-'),
    );
  });

  it('shows every digit beside another length only where three figures hide which is larger', () => {
    expect(formatBeside(187_779_188, 15e6)).toBe('188 ms');
    expect(formatBeside(15_000_001, 15e6)).toBe('15.000001 ms');
  });

  it('shows every digit where a bound is missed by little', () => {
    expect([12, 1234, 100_000_001, 2.5e9].map(formatExactNs)).toEqual([
      '12 ns',
      '1.234 µs',
      '100.000001 ms',
      '2.5 s',
    ]);
  });
});

describe('addresses', () => {
  it.each([
    ['host:1', { host: 'host', port: 1 }],
    ['[::1]:50051', { host: '::1', port: 50_051 }],
    ['host', undefined],
    ['host:70000', undefined],
    ['::1:50051', undefined],
  ])('splits %s', (text, parts) => {
    expect(splitAddress(text)).toEqual(parts);
  });

  it('make flags of keys', () => {
    expect(flagOf('batchDelayUsMax')).toBe('--batch-delay-us-max');
  });
});
