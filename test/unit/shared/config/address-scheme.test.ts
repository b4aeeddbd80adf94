import { describe, expect, it } from 'vitest';
import { type AddressScheme, wrongAddress } from '../../../../shared/config/address-scheme.ts';

// Goal: an address of HTTP is refused by what longhaul speaks.
// Method: lists of schemes, with one over HTTP and without.

const GRPC: AddressScheme = {
  scheme: 'grpc-only',
  notHere: '',
  form: '',
  inPlaceOf: () => '',
  inPlaceOfHttp: '; or grpc-only://',
};

describe('an address of HTTP', () => {
  it.each(['http://a:8000', 'https://a/v1/x', 'ws://a:1'])('%s is not spoken', (address) => {
    expect(wrongAddress(address, [GRPC])).toBe(
      'is an address of HTTP, which longhaul does not speak (no REST, no OpenAI API), only gRPC: use host:port of a SUT node; or grpc-only://',
    );
  });

  it('does not name the protocol where one is over HTTP', () => {
    expect(wrongAddress('http://a:8000', [GRPC, { ...GRPC, isHttp: true }])).toMatch(
      /^is an address of HTTP, which does not name the protocol: /,
    );
  });
});
