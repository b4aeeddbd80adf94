import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { readAudit, writeAudit } from '../../../../loadgen-node/observe/network-audit.ts';
import { composeAudit } from '../../../../loadgen-node/run/audit/compose-audit.ts';
import { explainAudit } from '../../../../loadgen-node/run/audit/explain-audit.ts';
import {
  toDescription,
  toNodeLedger,
  toStream,
} from '../../../../qdl/protocols/native/node-evidence.ts';
import { decodeSutMessage, SUT_SERVICE } from '../../../../shared/wire/sut-contract.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';
import { auditFacts, nodeEvidence } from '../../../scenes/simulated-run/audit-facts.ts';
import { ownBuild } from '../../../scenes/sut-node/protocol-builds.ts';

// Goal: what is read is what was written, or a clear error. Method: files that are made and
// damaged.

const ROOT = ownBuild().root;

/** Numbers at the ends of what a field can hold, and between. */
const UINT64 = fc
  .oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.constantFrom(0n, 2n ** 53n, 2n ** 64n - 1n),
  )
  .map(String);
const TEXT = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'digits'));

const SCALARS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  uint64: UINT64,
  fixed64: UINT64,
  uint32: fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.constant(2 ** 32 - 1)),
  double: fc.double(),
  bool: fc.boolean(),
  string: TEXT,
  bytes: fc.uint8Array({ maxLength: 70 }),
};

function anyField(field: protobuf.Field): fc.Arbitrary<unknown> {
  field.resolve();
  const { resolvedType } = field;
  const scalar = SCALARS[field.type];
  let one: fc.Arbitrary<unknown>;
  if (resolvedType instanceof protobuf.Type) one = anyFields(resolvedType);
  else if (resolvedType !== null) one = fc.integer({ min: 0, max: 9 });
  else if (scalar !== undefined) one = scalar;
  else throw new Error(`no values for ${field.type}`);
  if (field instanceof protobuf.MapField) return fc.dictionary(TEXT, one, { maxKeys: 4 });
  return field.repeated ? fc.array(one, { maxLength: 4 }) : one;
}

function anyFields(type: protobuf.Type): fc.Arbitrary<Record<string, unknown>> {
  const fields = type.fieldsArray.map((field) => [field.name, anyField(field)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
}

/** Bytes of any message of a type of sut.proto: each field absent, or with whatever it can hold. */
function anyMessage(name: string): fc.Arbitrary<Buffer> {
  const type = ROOT.lookupType(`mlperf.network.v1.${name}`);
  return anyFields(type).map((fields) =>
    Buffer.from(type.encode(type.fromObject(fields)).finish()),
  );
}

/** A message that holds just these bytes, as an embedded message. @param number Of the field. */
function inField(number: number, bytes: Uint8Array): Buffer {
  const writer = protobuf.Writer.create().uint32((number << 3) | 2);
  return Buffer.from(writer.bytes(bytes).finish());
}

const audit = composeAudit(auditFacts([nodeEvidence('sut-a'), nodeEvidence('sut-b')]));

describe('network_audit.json', () => {
  it('is read as it was written', () => {
    const folder = tempFolder();
    writeAudit(folder, audit);
    expect(readAudit(folder)).toEqual(audit);
  });

  it('is read again whatever a node says of itself, of its streams and of its ledger', () => {
    const folder = tempFolder();
    const ofWire = fc.tuple(
      anyMessage('DescribeResponse'),
      anyMessage('Opened'),
      anyMessage('LedgerResponse'),
    );
    fc.assert(
      fc.property(ofWire, ([describeBytes, openedBytes, ledgerBytes]) => {
        const { opened } = decodeSutMessage(inField(1, openedBytes));
        if (!opened) throw new Error('no Opened');
        const said = SUT_SERVICE.Describe.responseDeserialize(describeBytes);
        const ledger = SUT_SERVICE.Ledger.responseDeserialize(ledgerBytes);
        const node = nodeEvidence('sut-a', {
          description: toDescription(said, 'digits'),
          streams: [toStream(opened, 'checked', { loadgen: null, responseHeaders: [] })],
          theirs: toNodeLedger(ledger),
        });
        const written = composeAudit(auditFacts([node]));
        writeAudit(folder, written);
        const read = readAudit(folder);
        expect(read).toEqual(JSON.parse(JSON.stringify(written)));
        expect(explainAudit(read)).toContain('23 rules');
      }),
      { numRuns: 100 },
    );
  });

  it('that is not there is named', () => {
    expect(() => readAudit(tempFolder())).toThrow(
      /cannot read .*network_audit\.json: there is no such file/,
    );
  });

  it('that cannot be written is named', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'network_audit.json'));
    expect(() => writeAudit(folder, audit)).toThrow(
      /cannot write .*network_audit\.json: it is a folder/,
    );
  });

  it.each<[string, (text: string) => string, RegExp]>([
    ['is cut off', (text) => text.slice(0, 500), /is not JSON/],
    [
      'is of another version',
      (text) => text.replace('"schemaVersion": 4', '"schemaVersion": 3'),
      /schemaVersion must be 4: the file is from another version/,
    ],
    ['is no audit', () => '[]', /must be the audit of a run/],
    [
      'has a protocol that was not added',
      (text) => text.replace('"protocol": "longhaul"', '"protocol": "lines"'),
      /run\.protocol is "lines", a protocol that was not added here \(known: longhaul, oip\): set NODE_OPTIONS='--import FILE'/,
    ],
    [
      'has a count below 0',
      (text) => text.replace('"issuedQueries": 200', '"issuedQueries": -1'),
      /run\.issuedQueries/,
    ],
    [
      'lacks a rule',
      (text) => JSON.stringify({ ...JSON.parse(text), rules: JSON.parse(text).rules.slice(1) }),
      /rules must be the 23 rules that are judged, each once/,
    ],
    ['lacks a field', (text) => text.replace('"division"', '"divisoin"'), /run\.division/],
    [
      'has a verdict that there is not',
      (text) => text.replace('"verdict": "holds"', '"verdict": "fine"'),
      /rules\[0\]\.verdict/,
    ],
  ])('that %s is refused with the place', (_case, damage, message) => {
    const folder = tempFolder();
    writeAudit(folder, audit);
    const path = join(folder, 'network_audit.json');
    writeFileSync(path, damage(readFileSync(path, 'utf8')));
    expect(() => readAudit(folder)).toThrow(message);
  });
});

describe('explainAudit', () => {
  it('tells every rule with its verdict, in lines of 100 characters at most', () => {
    const text = explainAudit(audit);
    for (const { rule } of audit.rules) {
      expect(text.replaceAll(/\s+/g, ' ')).toContain(rule);
    }
    expect(text).toMatch(/\n23 rules: 21 hold, 2 not provable by this protocol, 0 broken\.\n/);
    expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });

  it('keeps a text of a SUT node in its line', () => {
    const node = { ...nodeEvidence('sut-a'), address: 'a:1\nHOLDS everything' };
    const text = explainAudit({ ...audit, nodes: [node] });
    expect(text.split('\n').filter((line) => line.startsWith('HOLDS everything'))).toEqual([]);
  });
});
