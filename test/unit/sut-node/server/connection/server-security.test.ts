import { describe, expect, it } from 'vitest';
import {
  exposureWarnings,
  readServerSecurity,
} from '../../../../../sut-node/server/connection/server-security.ts';
import { TEST_SETTINGS } from '../../../../scenes/sut-node/sut-node.ts';

// Goal: settings of a node that contradict each other, or expose it, are told. Method: settings
// alone.

const EVERYWHERE = { host: '0.0.0.0', port: 50051 };

describe('readServerSecurity', () => {
  it('asks for nothing where nothing is set', () => {
    expect(readServerSecurity(TEST_SETTINGS)).toEqual({ tls: undefined, token: undefined });
  });

  it.each([
    ['a certificate without a key', { tlsCert: 'a.pem' }, /give both or neither/],
    ['client authorities without TLS', { tlsClientCa: 'a.pem' }, /needs --tls-cert and --tls-key/],
    [
      'a token that crosses a network in the clear',
      { tokenFile: 'token', listen: EVERYWHERE },
      /--token-file on 0\.0\.0\.0 would send the token over the network/,
    ],
    [
      'a token file that is not there',
      { tokenFile: '/none' },
      /--token-file \/none cannot be read/,
    ],
  ])('refuses %s', (_case, settings, message) => {
    expect(() => readServerSecurity({ ...TEST_SETTINGS, ...settings })).toThrow(
      expect.objectContaining({
        code: 'ERR_CONFIG_INVALID',
        message: expect.stringMatching(message),
      }),
    );
  });
});

describe('exposureWarnings', () => {
  const SECURE = { tlsCert: 'a', tlsKey: 'b' };
  it.each([
    ['loopback', {}, []],
    ['all addresses', { listen: EVERYWHERE }, ['0.0.0.0:50051 can use']],
    ['all IPv6 addresses', { listen: { host: '::', port: 1 } }, ['[::]:1 can use']],
    ['a network with TLS', { listen: EVERYWHERE, ...SECURE }, []],
    ['health on loopback', { healthListen: { host: '127.0.0.1', port: 9 } }, []],
    [
      'health for everybody',
      { listen: EVERYWHERE, ...SECURE, healthListen: { host: '::', port: 9 } },
      ['[::]:9 can ask whether this node is ready'],
    ],
    ['metrics on loopback', { metricsListen: { host: '::1', port: 9 } }, []],
    [
      'metrics for everybody, which TLS does not protect',
      { listen: EVERYWHERE, ...SECURE, metricsListen: { host: '::', port: 9 } },
      ['[::]:9 can read the metrics'],
    ],
  ])('for %s', (_case, settings, texts) => {
    const warnings = exposureWarnings({ ...TEST_SETTINGS, ...settings });
    expect(warnings).toEqual(texts.map((text) => expect.stringContaining(text)));
  });
});
