import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { protoFolder } from '../../../shared/base/files/package-files.ts';
import { linesIn } from '../../scenes/sut-node/proto-lines.ts';

// Goal: what was released of the protocol stays as it is, since peers of that release are out
// there; what is new may come. Method: the .proto file against a committed list of what was
// released (proto/README.md tells when it grows).

const FILE = join(protoFolder(), 'mlperf', 'network', 'v1', 'sut');

/** The protocol as it is developed. */
const PROTO_FILE: string = `${FILE}.proto`;

/** The lines that were released: peers in use speak them, so they cannot change. */
const LOCK_FILE: string = `${FILE}.lock`;

/** All that a .proto text declares: a line per message, field, enum value and call, sorted. */
function protocolLines(text: string): string[] {
  const root = new protobuf.Root();
  protobuf.parse(text, root, { keepCase: true });
  return linesIn(root);
}

/**
 * Subject of a line, without its value: `field mlperf.network.v1.Open.run_id`,
 * `enum ...NodeState: NODE_STATE_READY`.
 */
function subjectOf(line: string): string {
  if (line.startsWith('enum ')) return line.replace(/ = .*/, '');
  return line.replace(/ = .*/, '').replace(/\(.*/, '');
}

/**
 * Where a field or an enum value lies on the wire: `mlperf.network.v1.Open 2`; undefined for other
 * lines.
 */
function placeOf(line: string): string | undefined {
  const field = /^field (\S+)\.\w+ = (\d+):/.exec(line);
  const value = /^enum (\S+): \w+ = (\d+)$/.exec(line);
  const [, owner, number] = field ?? value ?? [];
  return owner === undefined ? undefined : `${owner} ${number}`;
}

/** Released lines that are gone or changed, a sentence each. Additions are allowed. */
function brokenPromises(released: readonly string[], now: readonly string[]): string[] {
  const there = new Set(now);
  const bySubject = new Map(now.map((line) => [subjectOf(line), line]));
  const byPlace = new Map(now.map((line) => [placeOf(line), line]));
  return released
    .filter((line) => !there.has(line))
    .map((line) => {
      const place = placeOf(line);
      const other =
        bySubject.get(subjectOf(line)) ?? (place === undefined ? undefined : byPlace.get(place));
      return other === undefined ? `removed: ${line}` : `changed: ${line}, now ${other}`;
    });
}

const text = readFileSync(PROTO_FILE, 'utf8');
const now = protocolLines(text);
const released = readFileSync(LOCK_FILE, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

/** `npx vitest run -u`: a release takes in what has come. */
function isToGrow(): boolean {
  const { snapshotState } = expect.getState();
  return (snapshotState as unknown as { _updateSnapshot: string })._updateSnapshot === 'all';
}

describe('what was released of the protocol', () => {
  it('is what it was', () => {
    expect(released.length).toBeGreaterThan(200);
    expect(brokenPromises(released, now)).toEqual([]);
    if (isToGrow()) writeFileSync(LOCK_FILE, `${HEAD}${now.join('\n')}\n`);
  });

  it('may get fields, values, messages and calls beside it', () => {
    const more = changed(
      changed(text, 'message Close {}', 'message Close { string why = 1; }'),
      'enum NodeState {\n  NODE_STATE_UNSPECIFIED = 0;',
      'enum NodeState {\n  NODE_STATE_UNSPECIFIED = 0;\n  NODE_STATE_RESTING = 9;',
    );
    const all = changed(
      more,
      'service SystemUnderTest {',
      'service SystemUnderTest {\n  rpc Rest(Close) returns (Close);',
    );
    expect(
      brokenPromises(now, protocolLines(`${all}\nmessage News { string text = 1; }\n`)),
    ).toEqual([]);
  });

  it.each([
    [
      'a field removed',
      '  string run_id = 2;\n',
      '',
      'removed: field mlperf.network.v1.Open.run_id = 2: string',
    ],
    [
      'a field renamed',
      '  string run_id = 2;',
      '  string run = 2;',
      'changed: field mlperf.network.v1.Open.run_id = 2: string, now field mlperf.network.v1.Open.run = 2: string',
    ],
    [
      'a field renumbered',
      '  string run_id = 2;',
      '  string run_id = 92;',
      'Open.run_id = 92: string',
    ],
    [
      'a number used again',
      '  string run_id = 2;',
      '  bytes token = 2;',
      'now field mlperf.network.v1.Open.token = 2: bytes',
    ],
    ['another type', '  string run_id = 2;', '  bytes run_id = 2;', 'Open.run_id = 2: bytes'],
    [
      'another label',
      '  repeated Sample samples = 3;',
      '  Sample samples = 3;',
      'changed: field mlperf.network.v1.Part.samples',
    ],
    [
      'an enum value renumbered',
      'DIVISION_OPEN = 2;',
      'DIVISION_OPEN = 3;',
      'changed: enum mlperf.network.v1.Division: DIVISION_OPEN = 2',
    ],
    [
      'a call removed',
      '  rpc Ready(ReadyRequest) returns (ReadyResponse);\n',
      '',
      'removed: rpc mlperf.network.v1.SystemUnderTest.Ready',
    ],
    [
      'a call that streams now',
      'rpc Name(NameRequest) returns',
      'rpc Name(stream NameRequest) returns',
      'changed: rpc mlperf.network.v1.SystemUnderTest.Name',
    ],
  ])('is broken by %s, which is named', (_case, from, to, what) => {
    const broken = brokenPromises(now, protocolLines(changed(text, from, to)));
    expect(broken.join('\n')).toContain(what);
    expect(broken).toHaveLength(1);
  });
});

/** A change that finds nothing would test nothing. */
function changed(source: string, from: string, to: string): string {
  expect(source).toContain(from);
  return source.replace(from, to);
}

const HEAD = `# What was released of sut.proto. No line of it is ever changed or removed; a release adds what has come:
# npx vitest run -u --project unit released-protocol
`;
