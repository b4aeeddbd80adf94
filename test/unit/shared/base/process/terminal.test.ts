import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  NOWHERE,
  percentOf,
  printText,
  StyledText,
  Terminal,
} from '../../../../../shared/base/process/terminal.ts';
import { listFiles } from '../../../../tools/list-files.ts';

// Goal: one line that is written over on a terminal, few plain lines elsewhere. Method: what is
// written to a stream.

function terminalOf(stream: { isTTY?: boolean; columns?: number }, term = 'xterm') {
  const written: string[] = [];
  const write = (text: string): void => {
    written.push(text);
  };
  return { written, terminal: new Terminal({ ...stream, write }, { TERM: term }) };
}

describe('Terminal', () => {
  it('writes over the line before erasing what is left of it, so that nothing flickers', () => {
    const { written, terminal } = terminalOf({ isTTY: true, columns: 80 });
    terminal.status('run', '1 of 10');
    terminal.status('run', '2');
    expect(written).toEqual(['\rrun: 1 of 10\u001b[K', '\rrun: 2\u001b[K']);
  });

  it('asks a detail that fits itself for the width, and cuts others', () => {
    const { written, terminal } = terminalOf({ isTTY: true, columns: 40 });
    terminal.status('run', (width) => `${width} characters`);
    terminal.status('run', 'x'.repeat(100));
    expect(written[0]).toBe('\r39 characters\u001b[K');
    expect(written[1]).toHaveLength(39 + 4);
  });

  it('tells what a detail that fits itself belongs to, where there is room for both', () => {
    const { written, terminal } = terminalOf({ isTTY: true, columns: 120 });
    terminal.status('run', (width) => `${width} characters`);
    expect(written[0]).toBe('\rrun: 114 characters\u001b[K');
  });

  it('takes the status line away before a line that stays', () => {
    const { written, terminal } = terminalOf({ isTTY: true, columns: 80 });
    terminal.status('run');
    terminal.line('done');
    expect(written.slice(1)).toEqual(['\r\u001b[K', 'done\n']);
  });

  it.each([
    ['a file', {}, 'xterm'],
    ['a dumb terminal', { isTTY: true, columns: 80 }, 'dumb'],
  ])('writes plain lines to %s, once for what goes on', (_case, stream, term) => {
    const { written, terminal } = terminalOf(stream, term);
    terminal.status('run', '1');
    terminal.status('run', '2');
    terminal.status('other', '3');
    terminal.clear();
    expect(written).toEqual(['run: 1\n', 'other: 3\n']);
  });

  it('tells no share of an activity that has just begun, where it writes plain lines', () => {
    const { written, terminal } = terminalOf({});
    terminal.status('loading samples', percentOf(0.01));
    terminal.status('warming up', '0.3 s');
    expect(written).toEqual(['loading samples\n', 'warming up: 0.3 s\n']);
  });

  it('knows whether anybody can see it', () => {
    expect(terminalOf({}).terminal.isSeen).toBe(true);
    expect(new Terminal(NOWHERE).isSeen).toBe(false);
  });
});

describe('text of others', () => {
  const FOREIGN = 'a\u001b[31mb\u009bc\u0007\u202ed\re';
  const SHOWN = 'a\ufffd[31mb\ufffdc\ufffd\ufffdd\ufffde';

  it('steers no terminal, in lines, in the status line and in what is printed', () => {
    const { written, terminal } = terminalOf({ isTTY: true, columns: 80 });
    terminal.line(FOREIGN);
    terminal.status(FOREIGN, `two\n${FOREIGN}`);
    printText({ write: (text) => written.push(text) }, `${FOREIGN}\n\tb\r\n`);
    expect(written).toEqual([
      `${SHOWN}\n`,
      `\r${SHOWN}: two\ufffd${SHOWN}\u001b[K`,
      `${SHOWN}\n\tb\n`,
    ]);
  });

  it('leaves escape sequences of our own in a styled text', () => {
    const written: string[] = [];
    const styled = new StyledText('\u001b[1mVALID\u001b[0m').followedBy(FOREIGN);
    printText({ write: (text) => written.push(text) }, styled);
    expect(written).toEqual([`\u001b[1mVALID\u001b[0m${SHOWN}`]);
  });

  it('has no other way to stdout and stderr', () => {
    // main.ts writes nothing, and waits until all is written.
    const programs =
      /^(?:shared|qdl|sut-node|loadgen-node\/(?!main\.ts|present\/live\/page\/)).*\.ts$/;
    const others = listFiles('.', 'all').filter(
      (path) =>
        programs.test(path) &&
        /\bprocess\.std(?:out|err)\.write\(|\bconsole\.\w+\(|\bprogressStream\(\w+\)\.write/.test(
          readFileSync(path, 'utf8'),
        ),
    );
    expect(others).toEqual([]);
  });
});
