import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SubmissionRound } from '../../../../../loadgen-node/submission/rules/submission-rounds.ts';
import {
  restoreTree,
  truncateTree,
} from '../../../../../loadgen-node/submission/truncate/truncate-tree.ts';
import { readTree, tempFolder, writeTree } from '../../../../scenes/host/folders.ts';
import { accuracyLogOf } from '../../../../scenes/submission-tree/submission-tree.ts';

// Goal: what the official tool leaves of a log, and never less than the original somewhere. Method:
// trees by hand. The expected bytes are what truncate_accuracy_log.py of the rounds was seen to
// write.
const RESULT = 'network/ACME/results/sys/resnet50/Offline';
const LOG = `${RESULT}/accuracy/mlperf_log_accuracy.json`;
const TEXT = `${RESULT}/accuracy/accuracy.txt`;
const TEST01 = 'network/ACME/compliance/sys/resnet50/Offline/TEST01/accuracy';
const SCORE = 'accuracy=76.460%, good=38230, total=50000\n';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const cut = (log: string): string => `${log.slice(0, 4096)}\n\n...\n\n${log.slice(-4096)}`;

function scene(log: string, more: Readonly<Record<string, string>> = {}) {
  const tree = writeTree({ [LOG]: log, [TEXT]: SCORE, ...more });
  const backup = join(tempFolder(), 'originals');
  const truncate = (round: SubmissionRound = 'v4.1') => truncateTree({ tree, round, backup });
  const restore = (round: SubmissionRound = 'v4.1') => restoreTree({ tree, round, backup });
  const read = (path: string): string => readFileSync(join(tree, path), 'utf8');
  return { tree, backup, truncate, restore, read };
}

describe('truncateTree', () => {
  it.each([
    ['v4.1', `${SCORE}hash=`],
    ['v5.0', `${SCORE}\nhash=`],
    ['v5.1', `${SCORE}\nhash=`],
  ] as const)('cuts the middle out and keeps the hash: %s', async (round, before) => {
    const log = accuracyLogOf(20_000);
    const { truncate, read } = scene(log);
    const { logs, problems } = await truncate(round);
    expect(problems).toEqual([]);
    expect(logs).toEqual([{ log: LOG, outcome: 'cut', bytes: 20_000, sha256: sha256(log) }]);
    expect(read(LOG)).toBe(cut(log));
    expect(read(LOG)).toHaveLength(8199);
    expect(read(TEXT)).toBe(`${before}${sha256(log)}\n`);
  });

  it.each([
    [100, 'whole'],
    [4095, 'whole'],
    [4096, 'cut'],
    [5000, 'cut'],
    [10_241, 'cut'],
  ] as const)('does with a log of %i bytes as the tool does: %s', async (bytes, outcome) => {
    const log = accuracyLogOf(bytes);
    const { truncate, read } = scene(log);
    expect((await truncate()).logs[0]?.outcome).toBe(outcome);
    expect(read(LOG)).toBe(outcome === 'cut' ? cut(log) : log);
  });

  it('reads and writes text as the tool does: line ends, characters of several bytes', async () => {
    const entry = '{ "seq_id" : 1, "qsl_idx" : 1, "data" : "00", "note" : "é€😀" }';
    const log = `[\r\n${Array(300).fill(entry).join(',\r\n')}\r\n]\r\n`;
    const { truncate, read } = scene(log);
    await truncate();
    const lines = log.replaceAll('\r\n', '\n');
    const [head, tail] = read(LOG).split('\n\n...\n\n');
    expect(head).toBe([...lines].slice(0, 4096).join(''));
    expect(lines.endsWith(tail as string)).toBe(true);
  });

  it('changes nothing the second time', async () => {
    const { tree, backup, truncate } = scene(accuracyLogOf(9000), {
      'closed/ACME/results/sys/resnet50/Server/accuracy/mlperf_log_accuracy.json':
        accuracyLogOf(300),
      'closed/ACME/results/sys/resnet50/Server/accuracy/accuracy.txt': SCORE,
    });
    await truncate();
    const [after, kept] = [readTree(tree), readTree(backup)];
    expect((await truncate()).logs.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    expect(readTree(tree)).toEqual(after);
    expect(readTree(backup)).toEqual(kept);
  });

  it('takes a log that was cut on Windows, where line ends have two bytes, for cut', async () => {
    const { tree, truncate, read } = scene(accuracyLogOf(9000));
    await truncate();
    const cut = read(LOG).replaceAll('\n', '\r\n');
    writeFileSync(join(tree, LOG), cut);
    const { problems } = await truncate();
    expect(problems).toEqual([]);
    expect(read(LOG)).toBe(cut);
  });

  it('keeps originals with a list for sha256sum', async () => {
    const log = accuracyLogOf(20_000);
    const { backup, truncate } = scene(log);
    await truncate();
    expect(readTree(backup)).toEqual({
      [`1/${LOG}`]: log,
      [`1/${TEXT}`]: SCORE,
      SHA256SUMS: `${sha256(SCORE)}  1/${TEXT}\n${sha256(log)}  1/${LOG}\n`,
    });
  });

  it('never writes over an original: those of a new run lie beside them', async () => {
    const { tree, backup, truncate, restore, read } = scene(accuracyLogOf(20_000));
    await truncate();
    const second = accuracyLogOf(30_000);
    writeTree({ [LOG]: second, [TEXT]: SCORE }, tree);
    await truncate();
    const kept = readTree(backup);
    expect(kept[`1/${LOG}`]).toBe(accuracyLogOf(20_000));
    expect(kept[`2/${LOG}`]).toBe(second);
    await restore();
    expect(read(LOG)).toBe(second);
  });

  it.each([
    [
      'after an original was kept',
      (s: ReturnType<typeof scene>) => rmSync(join(s.backup, 'SHA256SUMS')),
    ],
    [
      'while an original was copied',
      (s: ReturnType<typeof scene>) => {
        rmSync(join(s.backup, '1', TEXT));
        renameSync(join(s.backup, '1', LOG), join(s.backup, '1', `${LOG}.unfinished`));
        rmSync(join(s.backup, 'SHA256SUMS'));
      },
    ],
    [
      'before the cut',
      (s: ReturnType<typeof scene>) => {
        writeTree({ [TEXT]: `${SCORE}hash=${sha256(accuracyLogOf(20_000))}\n` }, s.tree);
        writeTree({ [`${LOG}.unfinished`]: 'half' }, s.tree);
      },
    ],
  ])('goes on when it was interrupted %s', async (_case, interrupt) => {
    const log = accuracyLogOf(20_000);
    const whole = scene(log);
    await whole.truncate();
    writeTree({ [LOG]: log, [TEXT]: SCORE }, whole.tree);
    interrupt(whole);
    expect((await whole.truncate()).logs[0]?.outcome).toBe('cut');
    expect(readTree(whole.tree)).toEqual({
      [LOG]: cut(log),
      [TEXT]: `${SCORE}hash=${sha256(log)}\n`,
    });
    await whole.restore();
    expect(readTree(whole.tree)).toEqual({ [LOG]: log, [TEXT]: SCORE });
  });

  it('makes the accuracy.txt of TEST01 up to v5.1, and cuts no other test', async () => {
    const log = accuracyLogOf(12_000);
    const test06 = TEST01.replace('TEST01', 'TEST06');
    const { truncate, restore, tree, read } = scene(accuracyLogOf(20_000), {
      [`${TEST01}/mlperf_log_accuracy.json`]: log,
      [`${test06}/mlperf_log_accuracy.json`]: log,
    });
    const before = readTree(tree);
    await truncate();
    expect(read(`${TEST01}/accuracy.txt`)).toBe(`hash=${sha256(log)}\n`);
    expect(read(`${TEST01}/mlperf_log_accuracy.json`)).toBe(cut(log));
    expect(read(`${test06}/mlperf_log_accuracy.json`)).toBe(log);
    expect((await restore()).logs).toHaveLength(2);
    expect(readTree(tree)).toEqual(before);
  });

  it('finds the tests in the flat layout, some of them without an accuracy', async () => {
    const log = accuracyLogOf(12_000);
    const { truncate, read } = scene(log, {
      [`${RESULT}/TEST01/accuracy/mlperf_log_accuracy.json`]: log,
      [`${RESULT}/TEST01/accuracy/accuracy.txt`]: SCORE,
      [`${RESULT}/TEST07/accuracy/mlperf_log_accuracy.json`]: log,
    });
    expect((await truncate('v6.1')).logs).toHaveLength(3);
    expect(read(`${RESULT}/TEST01/accuracy/accuracy.txt`)).toBe(`${SCORE}\nhash=${sha256(log)}\n`);
    expect(read(`${RESULT}/TEST07/accuracy/accuracy.txt`)).toBe(`hash=${sha256(log)}\n`);
  });

  const problems: [string, string, Record<string, string>, RegExp][] = [
    [
      'was cut off',
      accuracyLogOf(20_000).slice(0, 15_000),
      {},
      /is damaged at line \d+ .*: it was cut off/,
    ],
    [
      'was truncated by someone, without a hash',
      cut(accuracyLogOf(20_000)),
      {},
      /is truncated, and .* has no line "hash="/,
    ],
    [
      'has the hash of another run',
      accuracyLogOf(20_000),
      { [TEXT]: `${SCORE}hash=${'a'.repeat(64)}\n` },
      /has the hash of another log/,
    ],
  ];
  it.each(problems)('changes nothing at all when one log %s', async (_case, log, more, message) => {
    const other = 'closed/ACME/results/sys/resnet50/Server/accuracy';
    const { tree, backup, truncate } = scene(log, {
      ...{
        [`${other}/mlperf_log_accuracy.json`]: accuracyLogOf(9000),
        [`${other}/accuracy.txt`]: SCORE,
      },
      ...more,
    });
    const before = readTree(tree);
    const result = await truncate();
    expect(result.problems).toEqual([expect.stringMatching(message)]);
    expect(readTree(tree)).toEqual(before);
    expect(() => readTree(backup)).toThrow('ENOENT');
  });

  it('says what to do where accuracy.txt is missing', async () => {
    const { tree, truncate } = scene(accuracyLogOf(20_000));
    rmSync(join(tree, TEXT));
    expect((await truncate()).problems[0]).toMatch(
      /accuracy.txt is missing: write it first \("longhaul accuracy /,
    );
  });

  it('gives the hash a line of its own where the last line is not ended', async () => {
    const log = accuracyLogOf(20_000);
    const { truncate, read } = scene(log, { [TEXT]: SCORE.trimEnd() });
    await truncate();
    expect(read(TEXT)).toBe(`${SCORE}hash=${sha256(log)}\n`);
  });

  it.each([
    ['no tree', {}, 'v4.1', 'is no submission tree: it has no closed/, network/, open/'],
    [
      'a flat tree for v4.1',
      { [`${RESULT}/TEST01/verify_accuracy.txt`]: 'x' },
      'v4.1',
      'is of the layout of v6.0 and later',
    ],
    [
      'an older tree for v6.0',
      { [`${TEST01}/x`]: 'x', [LOG]: '[\n]\n', [TEXT]: SCORE },
      'v6.0',
      'is of the layout of v5.1 and before',
    ],
  ] as const)('refuses %s', async (_case, files, round, message) => {
    const tree = writeTree(files);
    await expect(truncateTree({ tree, round, backup: join(tempFolder(), 'b') })).rejects.toThrow(
      message,
    );
  });

  it('refuses a log that is a link', async () => {
    const { tree, truncate } = scene(accuracyLogOf(5000));
    renameSync(join(tree, LOG), join(tree, 'log'));
    symlinkSync(join(tree, 'log'), join(tree, LOG));
    await expect(truncate()).rejects.toThrow('is not a plain file');
  });

  it('refuses to keep the originals in the tree, by whatever path', async () => {
    const { tree } = scene(accuracyLogOf(5000));
    const link = join(tempFolder(), 'link');
    symlinkSync(tree, link);
    for (const backup of [tree, join(tree, 'new', 'folder'), join(link, 'originals')]) {
      await expect(truncateTree({ tree, round: 'v4.1', backup })).rejects.toThrow(
        'must not lie in the tree',
      );
    }
  });
});

describe('restoreTree', () => {
  it('says that a kept original was changed, and changes nothing', async () => {
    const { tree, backup, truncate, restore } = scene(accuracyLogOf(20_000));
    await truncate();
    writeFileSync(join(backup, '1', LOG), accuracyLogOf(19_999));
    const before = readTree(tree);
    expect((await restore()).problems[0]).toMatch(
      /was changed: it has not the SHA-256 of its list/,
    );
    expect(readTree(tree)).toEqual(before);
  });

  it('says that an original is not there', async () => {
    const { tree, truncate } = scene(accuracyLogOf(20_000));
    await truncate();
    const backup = join(tempFolder(), 'other');
    mkdirSync(backup);
    const { problems } = await restoreTree({ tree, round: 'v4.1', backup });
    expect(problems[0]).toMatch(/has no original of network\/ACME/);
  });

  it('loses nothing that was written to accuracy.txt since', async () => {
    const { tree, truncate, restore, read } = scene(accuracyLogOf(20_000));
    await truncate();
    writeTree({ [TEXT]: `${read(TEXT)}a remark\n` }, tree);
    expect((await restore()).problems[0]).toMatch(/was changed after the truncation/);
  });

  it('does nothing to a tree that is whole', async () => {
    const { restore } = scene(accuracyLogOf(20_000));
    expect(await restore()).toEqual({ logs: [], problems: [] });
  });
});
