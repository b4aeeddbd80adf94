import { join } from 'node:path';
import protobuf from 'protobufjs';
import { protoFolder } from '../../../shared/base/files/package-files.ts';
import { linesIn } from '../../scenes/sut-node/proto-lines.ts';

const FILE = join(protoFolder(), 'mlperf', 'network', 'v1', 'sut');

/** The protocol as it is developed. */
export const PROTO_FILE: string = `${FILE}.proto`;

/** What was released of it: that is on wires that nobody can change any more. */
export const LOCK_FILE: string = `${FILE}.lock`;

/** All that a .proto text declares: a line per message, field, enum value and call, sorted. */
export function protocolLines(text: string): string[] {
  const root = new protobuf.Root();
  protobuf.parse(text, root, { keepCase: true });
  return linesIn(root);
}

/** What a line is about, without what it says of it: `field mlperf.network.v1.Open.run_id`, `enum ...NodeState: NODE_STATE_READY`. */
function subjectOf(line: string): string {
  if (line.startsWith('enum ')) return line.replace(/ = .*/, '');
  return line.replace(/ = .*/, '').replace(/\(.*/, '');
}

/** Where a field or an enum value lies on the wire: `mlperf.network.v1.Open 2`; undefined for other lines. */
function placeOf(line: string): string | undefined {
  const field = /^field (\S+)\.\w+ = (\d+):/.exec(line);
  const value = /^enum (\S+): \w+ = (\d+)$/.exec(line);
  const [, owner, number] = field ?? value ?? [];
  return owner === undefined ? undefined : `${owner} ${number}`;
}

/** What of the released lines is not there any more or is something else now, a sentence each; what was added is none. */
export function brokenPromises(released: readonly string[], now: readonly string[]): string[] {
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
