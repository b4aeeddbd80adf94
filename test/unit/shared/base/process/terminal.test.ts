import { describe, expect, it } from 'vitest';
import { NOWHERE, Terminal } from '../../../../../shared/base/process/terminal.ts';

// Goal: one line that is written over on a terminal, few plain lines elsewhere. Method: what is written to a stream.

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

  it('knows whether anybody can see it', () => {
    expect(terminalOf({}).terminal.isSeen).toBe(true);
    expect(new Terminal(NOWHERE).isSeen).toBe(false);
  });
});
