import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isLoopback } from '../../../../shared/domain/node-address.ts';
import {
  bearerOf,
  checkClientSecurity,
  NO_SECURITY,
  readToken,
  TokenCheck,
} from '../../../../shared/security/client-security.ts';
import { tempFolder } from '../../../scenes/host/folders.ts';

// Goal: only the token opens the door, no message shows it, and it never leaves the machine
// unprotected. Method: tokens and files of every shape.

const TOKEN = '0123456789abcdef0123456789abcdef';

function fileOf(text: string): string {
  const file = join(tempFolder(), 'token');
  writeFileSync(file, text);
  return file;
}

describe('TokenCheck', () => {
  const check = new TokenCheck(TOKEN);

  it('accepts the token as calls carry it', () => {
    expect(check.accepts(bearerOf(TOKEN))).toBe(true);
  });

  it.each<[string, string | undefined]>([
    ['none', undefined],
    ['an empty one', ''],
    ['the token without its scheme', TOKEN],
    ['another scheme', `Basic ${TOKEN}`],
    ['a longer one', `Bearer ${TOKEN}0`],
    ['the beginning of it', `Bearer ${TOKEN.slice(0, -1)}`],
    ['two of them', `Bearer ${TOKEN}, Bearer ${TOKEN}`],
  ])('refuses %s', (_case, authorization) => {
    expect(check.accepts(authorization)).toBe(false);
  });
});

describe('readToken', () => {
  it('takes one line, blanks around it aside', () => {
    expect(readToken(fileOf(` ${TOKEN}\r\n`), '--token-file')).toBe(TOKEN);
  });

  it.each([
    ['nothing', '\n', /is empty/],
    ['a guessable token', 'secret', /holds a token of 6 characters; it must have 16 to 4096/],
    ['two lines', `${TOKEN}\n${TOKEN}`, /holds no token: one line/],
    ['no ASCII', 'pässword-pässword-pässword', /holds no token: one line/],
  ])('refuses a file with %s and does not show it', (_case, text, message) => {
    const reading = () => readToken(fileOf(text), '--token-file');
    expect(reading).toThrow(message);
    expect(reading).not.toThrow(text.trim() === '' ? TOKEN : text.trim());
  });

  it('names a file that is not there', () => {
    expect(() => readToken('/none/token', '--token-file')).toThrow(
      '--token-file /none/token cannot be read: there is no such file or folder',
    );
  });
});

describe('checkClientSecurity', () => {
  it.each<[string, boolean, boolean]>([
    ['127.0.0.1:50051', false, true],
    ['[::1]:50051', false, true],
    ['localhost:50051', false, true],
    ['10.0.0.2:50051', false, false],
    ['sut.example:50051', false, false],
    ['10.0.0.2:50051', true, true],
  ])('lets a token go to %s (TLS: %s): %s', (address, tls, isFine) => {
    const security = { ...NO_SECURITY, tls, tokenFile: fileOf(TOKEN) };
    const check = () => checkClientSecurity(security, ['127.0.0.1:1', address]);
    if (isFine) expect(check).not.toThrow();
    else expect(check).toThrow(`--token-file would send the token to ${address}`);
  });

  it('wants certificate and key together', () => {
    const security = { ...NO_SECURITY, tls: true, tlsCert: 'a.pem' };
    expect(() => checkClientSecurity(security, [])).toThrow(/give both or neither/);
  });
});

describe('isLoopback', () => {
  it.each<[string, boolean]>([
    ['127.8.9.10', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['LOCALHOST', true],
    ['0.0.0.0', false],
    ['::', false],
    ['127.0.0.1.example', false],
    ['', false],
  ])('of %s is %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
