import { configInvalid } from '../base/errors/mlperf-error.ts';
import { isLoopback, splitAddress } from '../domain/node-address.ts';
import { readToken } from './bearer-token.ts';
import { readAuthorities, readIdentity, type TlsIdentity } from './tls-files.ts';

/**
 * How the LoadGen node secures its connections: names of files, never their contents, so that settings
 * can be printed, logged and passed to another thread.
 */
export interface ClientSecurity {
  /** False: no TLS at all, and then everything below but `tokenFile` is undefined. */
  readonly tls: boolean;
  /** Authorities that may have signed a node's certificate; undefined: those that Node.js knows. */
  readonly tlsCa: string | undefined;
  /** Certificate and key that this end shows; both or neither. */
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  /** Name that the nodes' certificates must have, in place of the host in their address. */
  readonly tlsServerName: string | undefined;
  /** File of the token that goes with every call. */
  readonly tokenFile: string | undefined;
}

/** Plain connections, as on loopback. */
export const NO_SECURITY: ClientSecurity = {
  tls: false,
  tlsCa: undefined,
  tlsCert: undefined,
  tlsKey: undefined,
  tlsServerName: undefined,
  tokenFile: undefined,
};

/** What the files hold. */
export interface ClientSecrets {
  readonly authorities: Buffer | undefined;
  readonly identity: TlsIdentity | undefined;
  readonly token: string | undefined;
}

/**
 * Reads the files.
 * @throws MlperfError `ERR_CONFIG_INVALID` naming the flag, the file and what is wrong with it.
 */
export function readClientSecrets(security: ClientSecurity): ClientSecrets {
  const { tlsCa, tlsCert, tlsKey, tokenFile } = security;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw configInvalid('--tls-cert and --tls-key belong together: give both or neither');
  }
  return {
    authorities: tlsCa === undefined ? undefined : readAuthorities(tlsCa, '--tls-ca'),
    identity:
      tlsCert === undefined || tlsKey === undefined
        ? undefined
        : readIdentity({ certFile: tlsCert, keyFile: tlsKey }),
    token: tokenFile === undefined ? undefined : readToken(tokenFile, '--token-file'),
  };
}

/**
 * Checks everything that can be checked before the first connection: the files, and that a token never
 * crosses a network that anybody can listen to.
 * @param addresses Addresses of the nodes.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function checkClientSecurity(security: ClientSecurity, addresses: readonly string[]): void {
  readClientSecrets(security);
  if (security.tls || security.tokenFile === undefined) return;
  const open = addresses.find((address) => !isLoopback(splitAddress(address)?.host ?? ''));
  if (open === undefined) return;
  throw configInvalid(
    `--token-file would send the token to ${open} for everybody on the way to read; use TLS as well (--tls-ca FILE)`,
  );
}
