import { describe, expect, it } from 'vitest';
import { connectionCredentials } from '../../../../qdl/connect/unary-calls.ts';
import { defaultDispatchSettings } from '../../../../qdl/settings/dispatch-settings.ts';

/** Options of a TLS handshake with `address`. */
function handshakeWith(address: string): { servername?: string; host?: string } {
  const settings = defaultDispatchSettings([address]);
  const credentials = connectionCredentials({
    ...settings,
    security: { ...settings.security, tls: true },
  });
  const target = { scheme: 'dns', path: address };
  const connector = credentials._createSecureConnector(target, {});
  return (connector as unknown as { connectionOptions: object }).connectionOptions;
}

// Goal: grpc-js gives Node.js no IP address as the server name, which warns of it and from 26 on
// throws. Method: grpc-js's own connector, whose options it hands to tls.connect.
describe('connectionCredentials with TLS', () => {
  it.each(['127.0.0.1', '[::1]'])('name no server for the address %s', (host) => {
    expect(handshakeWith(`${host}:50051`).servername).toBe('');
  });

  it('check the certificate for the address, and name a host', () => {
    expect(handshakeWith('127.0.0.1:50051').host).toBe('127.0.0.1');
    expect(handshakeWith('sut-a:50051').servername).toBe('sut-a');
  });
});
