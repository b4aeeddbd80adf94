import { describe, expect, it } from 'vitest';
import { isAddress, toldAddresses } from '../../../../shared/host/network-facts.ts';
import { ip } from '../../../scenes/host/machines.ts';

// Goal: addresses are told as far as they give no MAC address away, and connections still find
// theirs.

describe('addresses that are told', () => {
  it.each([
    ['IPv4', '10.0.0.2/24', ['10.0.0.2/24']],
    ['IPv6 by hand', 'fd00::2/64', ['fd00::2/64']],
    ['IPv6 of the link alone', 'fe80::fc:ff:fe00:1/64', []],
    ['IPv6 with the MAC address in it', '2001:db8:1:2:fc:ff:fe00:1/64', ['2001:db8:1:2::/64']],
    ['the same, written short', '2001:db8::fc:ff:fe00:1/64', ['2001:db8:0:0::/64']],
  ])('%s', (_case, cidr, told) => {
    expect(toldAddresses([ip(cidr)])).toEqual(told);
  });

  it('leaves loopback out, and says what it is without a prefix length', () => {
    const loopback = { ...ip('127.0.0.1/8'), internal: true };
    expect(toldAddresses([loopback, { ...ip('10.0.0.2/24'), cidr: null }])).toEqual([
      '10.0.0.2/32',
    ]);
  });
});

describe('an address of a connection', () => {
  it.each([
    ['the same', '10.0.0.2/24', '10.0.0.2', true],
    ['IPv4 over an IPv6 socket', '10.0.0.2/24', '::ffff:10.0.0.2', true],
    ['another of the same network', '10.0.0.2/24', '10.0.0.3', false],
    ['with a zone', 'fd00::2/64', 'fd00::2%eth0', true],
    ['one whose prefix alone is told', '2001:db8:0:0::/64', '2001:db8::fc:ff:fe00:1', true],
    ['another prefix', '2001:db8:0:0::/64', '2001:db8:0:1::7', false],
    ['IPv4 against a prefix', '2001:db8:0:0::/64', '10.0.0.2', false],
  ])('%s: %s is %s', (_case, told, address, expected) => {
    expect(isAddress(told, address)).toBe(expected);
  });
});
