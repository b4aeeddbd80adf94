import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readAuthorities, readIdentity } from '../../../../shared/security/client-security.ts';
import { HAS_OPENSSL, TestCertificates } from '../../../scenes/sut-node/certificates.ts';

// Goal: a file that cannot be used is named with its flag and what is wrong, before any connection.
// Method: certificates made by openssl now, and files that are something else.

const YEAR_MS = 365 * 24 * 3600 * 1000;

describe.skipIf(!HAS_OPENSSL)('files of TLS (needs openssl)', () => {
  let files: TestCertificates;
  beforeAll(() => {
    files = new TestCertificates();
  });

  it('are read as they are when they fit', () => {
    const { cert, key } = files.node;
    const identity = readIdentity({ certFile: cert, keyFile: key });
    expect(identity.cert.equals(readFileSync(cert))).toBe(true);
    expect(identity.key.equals(readFileSync(key))).toBe(true);
    expect(readAuthorities(files.ca, '--tls-ca').equals(readFileSync(files.ca))).toBe(true);
  });

  it('may hold a chain, of which the first certificate is the own one', () => {
    const { cert, key } = files.node;
    const chain = files.write(
      'chain.pem',
      readFileSync(cert, 'utf8') + readFileSync(files.ca, 'utf8'),
    );
    expect(() => readIdentity({ certFile: chain, keyFile: key })).not.toThrow();
    const turned = files.write(
      'turned.pem',
      readFileSync(files.ca, 'utf8') + readFileSync(cert, 'utf8'),
    );
    expect(() => readIdentity({ certFile: turned, keyFile: key })).toThrow(/does not belong/);
  });

  it.each<[string, () => { certFile: string; keyFile: string }, RegExp]>([
    [
      'a certificate that is not there',
      () => ({ certFile: join(files.folder, 'none.pem'), keyFile: files.node.key }),
      /^--tls-cert .*none\.pem cannot be read: there is no such file/,
    ],
    [
      'a key in place of a certificate',
      () => ({ certFile: files.node.key, keyFile: files.node.key }),
      /^--tls-cert .*node\.key holds no certificate \(PEM/,
    ],
    [
      'a certificate in place of a key',
      () => ({ certFile: files.node.cert, keyFile: files.node.cert }),
      /^--tls-key .*node\.pem holds no private key \(PEM/,
    ],
    [
      'a certificate that is damaged',
      () => ({
        certFile: files.write('bad.pem', BAD_CERTIFICATE),
        keyFile: files.node.key,
      }),
      /^--tls-cert .*bad\.pem holds a damaged certificate: /,
    ],
    [
      'a key behind a passphrase',
      () => ({
        certFile: files.node.cert,
        keyFile: files.write('locked.key', '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n'),
      }),
      /^--tls-key .*locked\.key is locked with a passphrase/,
    ],
    [
      'a key of somebody else',
      () => ({ certFile: files.node.cert, keyFile: files.client.key }),
      /^--tls-key .*client\.key does not belong to the certificate of --tls-cert .*node\.pem$/,
    ],
    [
      'a certificate that has expired',
      () => ({ certFile: files.expired.cert, keyFile: files.expired.key }),
      /^--tls-cert .*expired\.pem has expired \(it was valid until .* GMT\); make a new one$/,
    ],
  ])('are refused with %s', (_case, pair, message) => {
    expect(() => readIdentity(pair())).toThrow(
      expect.objectContaining({
        code: 'ERR_CONFIG_INVALID',
        message: expect.stringMatching(message),
      }),
    );
  });

  it('are refused before their time, and authorities after it', () => {
    const { cert, key } = files.node;
    const early = Date.now() - YEAR_MS;
    expect(() => readIdentity({ certFile: cert, keyFile: key }, early)).toThrow(/is not valid yet/);
    const late = Date.now() + YEAR_MS;
    expect(() => readAuthorities(files.ca, '--tls-client-ca', late)).toThrow(
      /^--tls-client-ca .*ca\.pem has expired/,
    );
  });
});

const BAD_CERTIFICATE = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
