import { describe, expect, it } from 'vitest';
import { layoutReport as styledReport } from '../../../../../loadgen-node/run/screen/report-layout.ts';

// Goal: a result is read at a glance on a terminal, and is as it was for programs. Method: a short
// result in several widths.

const TEXT = `INVALID       digits, Server, 100 queries/s for 10 s
  1. The latency bound was missed: needed is 15 ms, seen was 28 ms.
     Try a lower --target-qps, for example 30.

Requested     100 queries/s for at least 10 s; LoadGen's fixed seed draws 94.1
Files         /a/path/that/is/longer/than/forty/columns/of/a/terminal/
`;

const terminal = (columns: number) => ({ isTTY: true, columns });

function layoutReport(...args: Parameters<typeof styledReport>): string {
  return styledReport(...args).text;
}

describe('layoutReport', () => {
  it.each([
    ['a pipe', { columns: 40 }, {}],
    ['a dumb terminal', terminal(60), { TERM: 'dumb' }],
    ['a very narrow terminal', terminal(30), {}],
  ])('leaves the text as it is for %s', (_case, target, environment) => {
    expect(layoutReport(TEXT, target, environment)).toBe(TEXT);
  });

  it('wraps long lines behind their labels', () => {
    expect(
      layoutReport(TEXT, terminal(51), { NO_COLOR: '1' }),
    ).toBe(`INVALID       digits, Server, 100 queries/s for
              10 s
  1. The latency bound was missed: needed is
     15 ms, seen was 28 ms.
     Try a lower --target-qps, for example 30.

Requested     100 queries/s for at least 10 s;
              LoadGen's fixed seed draws 94.1
Files         /a/path/that/is/longer/than/forty/columns/of/a/terminal/
`);
  });

  it('has every word of the text, and none twice', () => {
    for (let columns = 40; columns < 130; columns += 1) {
      const words = layoutReport(TEXT, terminal(columns), { NO_COLOR: '1' }).split(/\s+/);
      expect(words).toEqual(TEXT.split(/\s+/));
    }
  });

  it('colors no text of a SUT by its own escape sequences', () => {
    const foreign = TEXT.replace('digits', '\u001b[32mVALID\u009b1m\u202e');
    expect(layoutReport(foreign, terminal(100), {})).toContain('\ufffd[32mVALID\ufffd1m\ufffd');
    expect(layoutReport(foreign, {}, {})).toContain('\ufffd[32mVALID\ufffd1m\ufffd');
  });

  it('makes the verdict stand out in colours, unless they are not wanted', () => {
    const colored = layoutReport(TEXT, terminal(100), {});
    expect(colored).toContain('\u001b[31mINVALID');
    expect(colored).not.toContain('\u001b[32m');
    const valid = layoutReport(TEXT.replace('INVALID', 'VALID  '), terminal(100), {});
    expect(valid).toContain('\u001b[32mVALID');
    expect(layoutReport(TEXT, terminal(100), { NO_COLOR: '1' })).not.toContain('\u001b');
  });
});
