import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { statusText } from '../../../../../qdl/protocols/oip/channel/response-gatherer.ts';
import { grpcToMlperfError } from '../../../../../shared/base/errors/mlperf-error.ts';
import {
  asOneLine,
  asPlainText,
  asSaid,
  csvField,
  escapedJson,
  jsonText,
} from '../../../../../shared/base/text.ts';
import { lossReason } from '../../../../../shared/security/connection-errors.ts';
import { failureText } from '../../../../../shared/wire/responses-codec.ts';

// Goal: no character of another machine's text steers a terminal or makes it look like another
// text; JSON keeps its value. Method: every control character and mark of direction, in every form
// that leaves the program.

const CONTROLS = [...Array(0x20).keys(), ...Array.from({ length: 0x21 }, (_, i) => 0x7f + i)];
const MARKS = [0x61c, 0x200e, 0x200f, 0x2028, 0x2029, ...range(0x202a, 5), ...range(0x2066, 4)];
const STEERING = [...CONTROLS, ...MARKS].map((code) => String.fromCharCode(code));

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}

describe('text of others', () => {
  it('has none of these characters on a line, nor in a field of CSV', () => {
    for (const one of STEERING) {
      expect(asOneLine(`a${one}b`)).toBe('a\ufffdb');
      expect(csvField(`a,${one}"b`)).toBe('"a,\ufffd""b"');
    }
  });

  it('keeps line ends and tabs in a text of several lines', () => {
    expect(asPlainText('a\n\tb\r\nc\rd\u0085')).toBe('a\n\tb\nc\ufffdd\ufffd');
    for (const one of STEERING.filter((each) => each !== '\n' && each !== '\t')) {
      expect(asPlainText(`a${one}b`)).toBe('a\ufffdb');
    }
  });

  it('is the same in JSON, without these characters', () => {
    const value = { [`k${STEERING.join('')}`]: [STEERING.join(''), '\u{1f600}é'] };
    const json = jsonText(value, 2);
    expect(json.replaceAll('\n', '')).toBe(asOneLine(json.replaceAll('\n', '')));
    expect(JSON.parse(json)).toEqual(value);
    expect(escapedJson('{"a":"\u009b"}\n')).toBe('{"a":"\\u009b"}\n');
  });

  it('leaves all other text as it is', () => {
    const text = 'µs ≥ 1 – “ü” \u{1f600} \u05d0\u05d1 \u200b';
    expect([asOneLine(text), asPlainText(text), jsonText(text)]).toEqual([text, text, `"${text}"`]);
  });

  it('is cut where it is long, in every message that repeats it', () => {
    const said = `${'e'.repeat(12_000)}\nsecond line`;
    const cut = `${'e'.repeat(500)}... (11,500 characters more)`;
    expect([asSaid(said), asSaid('no JPEG'), asSaid('')]).toEqual([cut, 'no JPEG', '']);
    expect(failureText(1, said)).toBe(cut);
    expect(lossReason(said)).toBe(cut);
    expect(statusText(status.INTERNAL, said)).toBe(`INTERNAL: ${cut}`);
    const error = grpcToMlperfError({ code: status.INTERNAL, details: said }, 'SUT node a');
    expect(error.message).toBe(`SUT node a: ${cut}`);
  });
});
