import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { hostAndPort } from '../../../shared/base/text.ts';
import { isLoopback } from '../../../shared/domain/node-address.ts';
import {
  readAuthorities,
  readIdentity,
  readToken,
  type TlsIdentity,
  TokenCheck,
} from '../../../shared/security/client-security.ts';
import type { SutSettings } from '../../settings/sut-settings.ts';

/** TLS of the node's side. */
export interface ServerTls extends TlsIdentity {
  /** Authorities of client certificates; undefined: clients need none. */
  readonly clientAuthorities: Buffer | undefined;
}

/**
 * Reads the files that the settings name.
 * @throws MlperfError `ERR_CONFIG_INVALID` naming the flag, the file and its fault.
 */
export function readServerSecurity(settings: SutSettings) {
  const { tlsCert, tlsKey, tlsClientCa, tokenFile, listen } = settings;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw configInvalid('--tls-cert and --tls-key belong together: give both or neither');
  }
  if (tlsClientCa !== undefined && tlsCert === undefined) {
    throw configInvalid(
      '--tls-client-ca asks clients for certificates, which needs --tls-cert and --tls-key',
    );
  }
  if (tokenFile !== undefined && tlsCert === undefined && !isLoopback(listen.host)) {
    throw configInvalid(
      `--token-file on ${listen.host} would send the token over the network unencrypted; ` +
        'use TLS as well (--tls-cert FILE --tls-key FILE)',
    );
  }
  const token =
    tokenFile === undefined ? undefined : new TokenCheck(readToken(tokenFile, '--token-file'));
  if (tlsCert === undefined || tlsKey === undefined) return { tls: undefined, token };
  const identity = readIdentity({ certFile: tlsCert, keyFile: tlsKey });
  const clientAuthorities =
    tlsClientCa === undefined ? undefined : readAuthorities(tlsClientCa, '--tls-client-ca');
  return { tls: { ...identity, clientAuthorities }, token };
}

/** Warnings about ports that other machines reach without TLS or a token. */
export function exposureWarnings({
  listen,
  healthListen,
  metricsListen,
  tlsCert,
  tokenFile,
}: SutSettings): string[] {
  const warnings: string[] = [];
  if (!isLoopback(listen.host) && tlsCert === undefined && tokenFile === undefined) {
    warnings.push(
      `anyone who reaches ${hostAndPort(listen.host, listen.port)} can use this node and read its traffic; ` +
        'outside a private network give it --tls-cert FILE --tls-key FILE and --token-file FILE or ' +
        '--tls-client-ca FILE (docs/secure.md)',
    );
  }
  const sidePorts = [
    [healthListen, 'ask whether this node is ready: health has neither TLS nor a token there'],
    [metricsListen, 'read the metrics of this node: they have neither TLS nor a token'],
  ] as const;
  for (const [at, what] of sidePorts) {
    if (at === undefined || isLoopback(at.host)) continue;
    const address = hostAndPort(at.host, at.port);
    warnings.push(`anyone who reaches ${address} can ${what} (docs/secure.md)`);
  }
  return warnings;
}
