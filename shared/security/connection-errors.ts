import { asSaid } from '../base/text.ts';
import type { ClientSecurity } from './client-security.ts';

/** Cause of an error, and its remedy. */
interface Explanation {
  readonly cause: string;
  readonly remedy: string;
}

/** Part of gRPC's text → cause and remedy. */
type Row = readonly [part: string, cause: string, remedy?: string];

const START_ONE = 'start one there with "longhaul sut" or correct the address';

/**
 * Expected peers of an address: a node of ours, any server with a health service, or another
 * inference server.
 */
export type ExpectedPeer = 'SUT node' | 'server' | 'inference server';

/** For other servers, many of which have several ports. */
const START_OTHER = "start it there, or correct the address: it is that of the server's gRPC port";

/** No connection, or a server without the protocol. */
const NO_NODE: readonly Row[] = [
  ['ECONNREFUSED', 'connection refused'],
  ['Name resolution failed', 'the host name cannot be resolved'],
  ['ENOTFOUND', 'the host name cannot be resolved'],
  ['EHOSTUNREACH', 'no route to the host'],
  ['ENETUNREACH', 'no route to the network'],
  ['Protocol error', 'what listens there does not speak gRPC'],
  ['Deadline exceeded', 'no answer in time'],
];

/** Failures of a TLS handshake, in the words of OpenSSL and Node.js. */
const NO_TLS: readonly Row[] = [
  [
    'certificate has expired',
    "the node's certificate has expired",
    'give the node a new one (longhaul sut --tls-cert)',
  ],
  [
    'certificate is not yet valid',
    "the node's certificate is not valid yet",
    'look at the clocks of both machines',
  ],
  [
    'alert certificate required',
    'the node asks for a client certificate',
    'give it by --tls-cert FILE --tls-key FILE',
  ],
  // TLS 1.2's text for the same.
  [
    'alert handshake failure',
    'the node asks for a client certificate, or has no cipher in common',
    'give a certificate by --tls-cert FILE --tls-key FILE',
  ],
  [
    'alert ',
    'the node does not accept the certificate of --tls-cert',
    'use one that an authority of its --tls-client-ca signed and that is valid now',
  ],
  [
    'wrong version number',
    'the node does not speak TLS',
    'give it --tls-cert, or use no --tls flag',
  ],
  [
    'packet length too long',
    'the node does not speak TLS',
    'give it --tls-cert, or use no --tls flag',
  ],
];

/** Node.js's codes for a certificate of an unknown authority. */
const UNKNOWN_AUTHORITY = [
  'unable to verify the first certificate',
  'unable to get local issuer certificate',
  'unable to get issuer certificate',
  'self-signed certificate',
  'certificate signature failure',
];

/** gRPC and socket errors if the connection ended before HTTP/2 began. */
const CLOSED = [
  'Failed to connect',
  'ECONNRESET',
  'socket hang up',
  'disconnected',
  'Socket closed',
];

/**
 * Why there is no connection to a node, in one line: fault, cause, remedy.
 * @param details gRPC's text, which contains the socket or TLS error.
 * @param who Expected peer.
 */
export function unreachableMessage(
  address: string,
  details: string,
  security: ClientSecurity,
  who: ExpectedPeer = 'SUT node',
): string {
  const tls = security.tls ? tlsExplanation(details, security) : undefined;
  if (tls !== undefined) return `no TLS with the ${who} at ${address}: ${tls.cause}; ${tls.remedy}`;
  const { cause, remedy } = plainExplanation(details, security);
  const advice = who === 'inference server' && remedy === START_ONE ? START_OTHER : remedy;
  return `no ${who} answers at ${address} (${cause}); ${advice}`;
}

/** The kernel of a killed process closes or resets a connection, depending on unread data. */
const ENDED_THERE = 'the connection was lost (closed or reset by the other end)';

/** Texts of gRPC and of our HTTP/2 client for the end of a used connection, and their meaning. */
const LOSSES: readonly Row[] = [
  ['Connection dropped: the server closed it', ENDED_THERE],
  [
    'Connection dropped: no answer',
    'the connection was lost (no answer to a ping within --keepalive-timeout)',
  ],
  // gRPC's only text if the connection ended before the stream did.
  [
    'Connection dropped',
    'the connection was lost (closed, reset, or no answer to a ping within --keepalive-timeout)',
  ],
  ['ECONNRESET', ENDED_THERE],
  ['ECONNREFUSED', 'connection refused'],
  ['EPIPE', 'the connection was closed'],
  ['ETIMEDOUT', 'the other end did not respond'],
];

/**
 * Limits of connections that servers and proxies have, for people. Defaults of nginx 1.22, gRPC and
 * Envoy.
 */
export const CONNECTION_LIMITS: string =
  'Usual limits: nginx keepalive_requests (1,000 calls a connection), keepalive_time (1 h), gRPC max_connection_age, Envoy ' +
  'max_connection_duration';

/** A likely cause of a reset after 1 MiB, for people. */
export const BODY_LIMIT: string =
  'if a proxy stands between, its limit of request bodies is a likely cause: nginx counts a whole stream ' +
  '(client_max_body_size, 1 MiB by default; 0 is no limit)';

/**
 * Limits of idle streams that proxies have, for people. Defaults of nginx 1.22, HAProxy's examples,
 * nghttpx and Envoy.
 */
export const STREAM_LIMITS: string =
  'A proxy ends idle streams: nginx grpc_read_timeout and grpc_send_timeout (60 s), haproxy timeout client and timeout server, ' +
  'nghttpx backend-read-timeout (1 min), Envoy stream_idle_timeout (5 min)';

/** Why the connection of a stream ended, from gRPC's text. */
export function lossReason(details: string): string {
  return explanationIn(LOSSES, details, '')?.cause ?? asSaid(details);
}

function tlsExplanation(details: string, security: ClientSecurity): Explanation | undefined {
  const names = /does not match certificate's altnames: (.*?)(?:\. Resolution note|$)/.exec(
    details,
  );
  if (names !== null) {
    return {
      cause: `its certificate is for another name (${names[1]})`,
      remedy: 'correct the address, or say the name by --tls-server-name NAME',
    };
  }
  if (UNKNOWN_AUTHORITY.some((part) => details.includes(part))) {
    const { tlsCa } = security;
    const known = tlsCa === undefined ? 'that Node.js knows' : `of --tls-ca ${tlsCa}`;
    return {
      cause: `no authority ${known} signed its certificate`,
      remedy: 'give the authority that did by --tls-ca FILE',
    };
  }
  return explanationIn(NO_TLS, details, '');
}

function plainExplanation(details: string, security: ClientSecurity): Explanation {
  const known = explanationIn(NO_NODE, details, START_ONE);
  if (known !== undefined) return known;
  if (CLOSED.some((part) => details.includes(part))) return closedExplanation(security);
  return {
    cause: details === '' ? 'no connection' : (details.split('\n')[0] ?? ''),
    remedy: START_ONE,
  };
}

/** The other end gives no reason in these cases: the likely one depends on this end's settings. */
function closedExplanation({ tls, tlsCert }: ClientSecurity): Explanation {
  const cause = 'the other end closed the connection';
  if (!tls) return { cause, remedy: 'if the node speaks TLS, use --tls-ca FILE' };
  return tlsCert === undefined
    ? {
        cause,
        remedy: 'if the node asks for a client certificate, give it by --tls-cert and --tls-key',
      }
    : {
        cause,
        remedy:
          'it may not accept the certificate of --tls-cert: an authority of its --tls-client-ca must have signed it, for clients',
      };
}

function explanationIn(
  rows: readonly Row[],
  details: string,
  usualRemedy: string,
): Explanation | undefined {
  const row = rows.find(([part]) => details.includes(part));
  if (row === undefined) return undefined;
  const [, cause, remedy = usualRemedy] = row;
  return { cause, remedy };
}
