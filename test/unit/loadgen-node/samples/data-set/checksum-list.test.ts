import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  digestOfList,
  formatChecksumList,
  parseChecksumList,
} from '../../../../../loadgen-node/samples/data-set/checksum-list.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: lists are those of sha256sum, both ways. Method: the tool itself, and lists with one fault
// each.
const SHA = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('lists of checksums', () => {
  it('are read by sha256sum -c, odd names included', () => {
    const folder = tempFolder();
    const names = ['b.txt', 'a b.txt', 'back\\slash', 'two\nlines'];
    for (const name of names) writeFileSync(join(folder, name), name);
    const list = formatChecksumList(new Map(names.map((name) => [name, sha256(name)])));
    writeFileSync(join(folder, 'list'), list);
    const said = execFileSync('sha256sum', ['-c', 'list'], { cwd: folder, encoding: 'utf8' });
    expect(said.match(/: OK$/gm)).toHaveLength(4);
  });

  it('are those that sha256sum writes', () => {
    const folder = tempFolder();
    const names = ['b.txt', 'back\\slash', 'two\nlines'];
    for (const name of names) writeFileSync(join(folder, name), name);
    const list = execFileSync('sha256sum', names, { cwd: folder, encoding: 'utf8' });
    expect([...parseChecksumList(list, 'list')]).toEqual(names.map((name) => [name, sha256(name)]));
  });

  it('are sorted, so that equal sets have one digest', () => {
    const one = new Map([
      ['b', SHA],
      ['a', sha256('a')],
    ]);
    const other = new Map([...one].reverse());
    expect(formatChecksumList(one)).toBe(`${sha256('a')}  a\n${SHA}  b\n`);
    expect(digestOfList(one)).toBe(sha256(formatChecksumList(other)));
  });

  it('take binary marks, capital digits, ./ and CRLF', () => {
    const text = `${SHA.toUpperCase()} *./val/x.JPEG\r\n`;
    expect([...parseChecksumList(text, 'l')]).toEqual([['val/x.JPEG', SHA]]);
  });

  it.each([
    ['is no checksum', 'abc  x', /^l, line 2: "abc {2}x" is not 64 hexadecimal digits/],
    ['leaves the folder', `${SHA}  ../x`, /^l, line 2: \.\.\/x is not below/],
    ['is absolute', `${SHA}  /etc/passwd`, /^l, line 2: \/etc\/passwd is not below/],
    ['comes twice', `${SHA}  first`, /^l, line 2: first is listed twice/],
  ])('are refused where a line %s', (_case, line, message) => {
    expect(() => parseChecksumList(`${SHA}  first\n${line}\n`, 'l')).toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET', message: expect.stringMatching(message) }),
    );
  });

  it('are refused when empty', () => {
    expect(() => parseChecksumList('\n', 'l')).toThrow('l lists no file');
  });
});
