import {
  count,
  positiveDuration,
  type SettingValues,
  text,
  toggle,
} from '../../../shared/config/setting.ts';
import { benchmarkDefault } from '../../../shared/rules/benchmark-rules.ts';
import type { ClientSecurity } from '../../../shared/security/client-security.ts';
import { MESSAGE_BYTES_MAX_DEFAULT } from '../../../shared/wire/protocol-versions.ts';

const KIB = 1024;
const GIB = 1024 ** 3;

/** How connections are secured. */
export const SECURITY_OPTIONS = {
  tls: toggle(
    'use TLS with the certificate authorities that Node.js trusts (any --tls-... flag switches TLS on)',
  ),
  tlsCa: text('file', 'use TLS with only these certificate authorities (PEM)'),
  tlsCert: text('file', 'client certificate for the SUT nodes (PEM), with --tls-key'),
  tlsKey: text('file', 'its private key (PEM, without a passphrase)'),
  tlsServerName: text(
    'name',
    "name that the nodes' certificates must have (default: the host in --sut)",
  ),
  tokenFile: text('file', 'file with the token for every call (needs TLS, or nodes on loopback)'),
};

/** Settings of every verb that connects to SUT nodes: security and supervision of connections. */
export const CONNECTION_OPTIONS = {
  ...SECURITY_OPTIONS,
  messageBytesMax: {
    ...count(
      { min: 64 * KIB, max: 2 * GIB - 1 },
      'largest gRPC message accepted from a node; a larger one ends the run; 3d-unet: 268435456',
      { fallback: MESSAGE_BYTES_MAX_DEFAULT },
    ),
    fallbackFrom: benchmarkDefault('messageBytesMax'),
  },
  keepaliveTime: positiveDuration('silence after which a node is pinged', { fallback: '2s' }),
  keepaliveTimeout: positiveDuration('longest wait for its answer; then the node is lost', {
    fallback: '5s',
  }),
};

/** Any TLS flag turns on TLS. */
export function toClientSecurity(values: SettingValues<typeof SECURITY_OPTIONS>): ClientSecurity {
  const { tlsCa, tlsCert, tlsKey, tlsServerName, tokenFile } = values;
  const isTls = [tlsCa, tlsCert, tlsKey, tlsServerName].some((value) => value !== undefined);
  return { tls: values.tls || isTls, tlsCa, tlsCert, tlsKey, tlsServerName, tokenFile };
}

/** Converts effective values to the QDL's settings. */
export function toConnectionSettings(values: SettingValues<typeof CONNECTION_OPTIONS>) {
  return {
    messageBytesMax: values.messageBytesMax,
    keepaliveTimeMs: values.keepaliveTime / 1e6,
    keepaliveTimeoutMs: values.keepaliveTimeout / 1e6,
    security: toClientSecurity(values),
  };
}
