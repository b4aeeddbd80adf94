import { fstatSync } from 'node:fs';
import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { MlperfError } from '../../../../../shared/base/errors/mlperf-error.ts';
import { reportError } from '../../../../../shared/base/process/exit-codes.ts';
import { isStderrJournal } from '../../../../../shared/base/process/journal.ts';
import { journalDestination } from '../../../../../shared/base/process/logger.ts';
import { Terminal } from '../../../../../shared/base/process/terminal.ts';

// Goal: lines carry their importance where systemd's journal reads them, and nowhere else.
// Method: made-up device and inode numbers, and a logger that writes into a list.

const stat = () => ({ dev: 8n, ino: 4711n });

describe('stderr', () => {
  it.each<[string, NodeJS.ProcessEnv, boolean]>([
    ['is the journal where $JOURNAL_STREAM names it', { JOURNAL_STREAM: '8:4711' }, true],
    ['is not where that names the stderr of a parent', { JOURNAL_STREAM: '8:4712' }, false],
    ['is not where that is broken', { JOURNAL_STREAM: '8' }, false],
    ['is not outside of a unit', {}, false],
  ])('%s', (_case, environment, expected) => {
    expect(isStderrJournal({ environment, stat })).toBe(expected);
  });

  it('is not the journal when it is closed', () => {
    const closed = (): never => {
      throw new Error('EBADF');
    };
    expect(isStderrJournal({ environment: { JOURNAL_STREAM: '8:4711' }, stat: closed })).toBe(
      false,
    );
  });
});

describe('the operating log in the journal', () => {
  it('has the importance of each line before it, and the same JSON behind that', () => {
    const lines: string[] = [];
    const write = (line: string): void => {
      lines.push(line);
    };
    const logger = pino({ level: 'debug' }, journalDestination({ write }));
    logger.debug({}, 'one');
    logger.info({}, 'two');
    logger.warn({}, 'three');
    logger.error({}, 'four');
    expect(lines.map((line) => line.slice(0, 4))).toEqual(['<7>{', '<6>{', '<4>{', '<3>{']);
    expect(lines.map((line) => JSON.parse(line.slice(3)).msg)).toEqual([
      'one',
      'two',
      'three',
      'four',
    ]);
  });
});

describe('what this process says when its stderr is the journal', () => {
  /** Lines written to stderr while $JOURNAL_STREAM names it. */
  function saidToJournal(say: () => void): string[] {
    const { dev, ino } = fstatSync(2, { bigint: true });
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    vi.stubEnv('JOURNAL_STREAM', `${dev}:${ino}`);
    try {
      say();
      return write.mock.calls.map(([text]) => String(text));
    } finally {
      vi.unstubAllEnvs();
      write.mockRestore();
    }
  }

  it('has the importance of an error before each of its lines', () => {
    const error = new MlperfError('ERR_CONFIG_INVALID', 'one\ntwo');
    expect(saidToJournal(() => reportError(error))).toEqual([
      '<3>longhaul: one\n<3>longhaul: two\n',
    ]);
  });

  it('has lines that stay, and no progress', () => {
    const said = saidToJournal(() => {
      const terminal = new Terminal();
      terminal.status('loading', '10 %');
      terminal.line('ready');
    });
    expect(said).toEqual(['ready\n']);
  });
});
