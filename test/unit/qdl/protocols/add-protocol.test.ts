import { expect, it } from 'vitest';
import {
  addProtocol,
  knownProtocols,
  protocolNamed,
  protocolOf,
  serverAddresses,
} from '../../../../qdl/protocols/index.ts';

// Goal: an added protocol is one of the list until it is taken out; one that no address could mean
// is refused.

const OIP = protocolNamed('oip');

it('is known by its name, its addresses and in texts, until it is taken out', () => {
  const alike = { ...OIP, name: 'alike', scheme: 'alike', title: 'the same' };
  const takeOut = addProtocol(alike);
  expect([protocolNamed('alike'), protocolOf('ALIKE://a:1')]).toEqual([alike, alike]);
  expect(serverAddresses()).toContain('alike://host:port for servers of the same');
  takeOut();
  expect(knownProtocols()).not.toContain(alike);
  expect(() => protocolNamed('alike')).toThrow('no protocol is called "alike"');
});

it.each([
  [
    'a name that is taken',
    { name: 'oip', scheme: 'other' },
    'Protocol already has the name "oip" or',
  ],
  ['a scheme that is taken', { name: 'other', scheme: 'oip' }, 'or the scheme "oip"'],
  ['no scheme', { name: 'other', scheme: null }, 'scheme null must be'],
  ['a scheme in capitals', { name: 'other', scheme: 'Other' }, 'scheme "Other" must be'],
  ['no word', { name: 'other', scheme: 'a b' }, 'scheme "a b" must be'],
  ['the scheme of names of nodes', { name: 'other', scheme: 'dns' }, 'scheme "dns" must be'],
])('is refused with %s', (_case, changed, message) => {
  const before = [...knownProtocols()];
  expect(() => addProtocol({ ...OIP, ...changed })).toThrow(message);
  expect(knownProtocols()).toEqual(before);
});
