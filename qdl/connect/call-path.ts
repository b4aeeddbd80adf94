import { connect, isIP } from 'node:net';
import { type Client, getChannelzHandlers, type Metadata } from '@grpc/grpc-js';
import type { CallSeen__Output } from '../../proto/gen/mlperf/network/v1/CallSeen.ts';
import { asOneLine } from '../../shared/base/text.ts';
import { splitAddress } from '../../shared/domain/node-address.ts';
import {
  type CallPath,
  HEADER_VALUE_LENGTH_MAX,
  HEADERS_MAX,
  type HeaderEvidence,
  keptHeaders,
  type OwnSide,
  plainAddress,
  type SocketEnds,
} from '../../shared/evidence/call-path.ts';

/**
 * Response headers in the form of the evidence.
 * @param metadata As grpc-js reports it.
 */
export function responseHeadersOf(metadata: Metadata): readonly HeaderEvidence[] {
  return keptHeaders(Object.entries(metadata.getMap())).headers;
}

/** A call as both ends saw it. The node's report is untrusted: it has the same bounds as ours. */
export function callPathOf(own: OwnSide, seen: CallSeen__Output | null): CallPath {
  if (seen === null) {
    return { ...own, sut: null, requestHeaders: null, requestHeadersLeftOut: 0 };
  }
  const told = seen.headers
    .slice(0, HEADERS_MAX)
    .map(({ name, value }) => [lineOf(name.toLowerCase()), lineOf(value)] as const);
  const { headers } = keptHeaders(told);
  return {
    ...own,
    sut: endsOf(seen),
    requestHeaders: headers,
    requestHeadersLeftOut: seen.headersLeftOut + seen.headers.length - told.length,
  };
}

/** One line, at most as long as a header may be. */
function lineOf(text: string): string {
  return asOneLine(text.slice(0, HEADER_VALUE_LENGTH_MAX));
}

function endsOf({
  peerAddress,
  peerPort,
  nodeAddress,
  nodePort,
}: CallSeen__Output): SocketEnds | null {
  if (isIP(peerAddress) === 0 || isIP(nodeAddress) === 0) return null;
  return {
    localAddress: plainAddress(nodeAddress),
    localPort: nodePort,
    remoteAddress: plainAddress(peerAddress),
    remotePort: peerPort,
  };
}

/** Fields read from a channelz response (grpc.channelz.v1). */
interface ChannelzAnswer {
  readonly channel?: { readonly subchannel_ref: readonly { readonly subchannel_id: number }[] };
  readonly subchannel?: { readonly socket_ref: readonly { readonly socket_id: number }[] };
  readonly socket?: {
    readonly local: ChannelzAddress | null;
    readonly remote: ChannelzAddress | null;
  };
}

interface ChannelzAddress {
  readonly tcpip_address?: { readonly ip_address?: Uint8Array; readonly port: number };
}

type Ask = (
  call: { readonly request: Readonly<Record<string, string>> },
  callback: (error: unknown, answer?: ChannelzAnswer) => void,
) => void;

/**
 * Addresses of both ends of the connection that carries a channel's calls, as this machine's socket
 * has them. Read by channelz, gRPC's introspection service, which grpc-js answers synchronously.
 * @returns Null without a connection, or with several.
 */
export function socketEndsOf(channel: ReturnType<Client['getChannel']>): SocketEnds | null {
  const { GetChannel, GetSubchannel, GetSocket } = getChannelzHandlers() as unknown as Record<
    'GetChannel' | 'GetSubchannel' | 'GetSocket',
    Ask
  >;
  const { id } = channel.getChannelzRef();
  const subchannels = answerOf(GetChannel, { channel_id: `${id}` })?.channel?.subchannel_ref ?? [];
  const sockets = subchannels.flatMap(
    ({ subchannel_id: of }) =>
      answerOf(GetSubchannel, { subchannel_id: `${of}` })?.subchannel?.socket_ref ?? [],
  );
  const [only] = sockets;
  if (only === undefined || sockets.length > 1) return null;
  const socket = answerOf(GetSocket, { socket_id: `${only.socket_id}` })?.socket;
  const local = socket?.local?.tcpip_address;
  const remote = socket?.remote?.tcpip_address;
  if (local?.ip_address === undefined || remote?.ip_address === undefined) return null;
  return {
    localAddress: addressText(local.ip_address),
    localPort: local.port,
    remoteAddress: addressText(remote.ip_address),
    remotePort: remote.port,
  };
}

/** The channelz handlers call back before they return. They throw if a socket is closing. */
function answerOf(ask: Ask, request: Readonly<Record<string, string>>): ChannelzAnswer | undefined {
  let answer: ChannelzAnswer | undefined;
  try {
    ask({ request }, (_error, given) => {
      answer = given;
    });
  } catch {
    return undefined;
  }
  return answer;
}

/** 4 or 16 bytes as text. */
function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const words = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  return plainAddress(words.join(':'));
}

/** Longest wait for a plain TCP connection. */
const TCP_CONNECT_TIMEOUT_MS = 1_000;

const NONE = {
  /**
   * Time from the first packet to the answer, ns, without name resolution; null without an answer.
   */
  connectNs: null as number | null,
  /** IP addresses of both ends, as the kernel chose them. */
  localAddress: null as string | null,
  remoteAddress: null as string | null,
};

/** A plain TCP connect to a node's address. */
export type TcpConnect = Readonly<typeof NONE>;

/**
 * Measures the round trip of the network alone: one TCP connect, closed at once. The logs show it
 * beside the round trip of Name. Never rejects; resolves within `timeoutMs`.
 */
export function measureTcpConnect(
  address: string,
  timeoutMs: number = TCP_CONNECT_TIMEOUT_MS,
): Promise<TcpConnect> {
  const target = splitAddress(address);
  if (target === undefined) return Promise.resolve(NONE);
  return new Promise((resolve) => {
    let begin = performance.now();
    const socket = connect({ host: target.host, port: target.port });
    const end = (result: TcpConnect): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => end(NONE), timeoutMs);
    socket.once('lookup', () => {
      begin = performance.now();
    });
    socket.once('connect', () => {
      const connectNs = Math.round((performance.now() - begin) * 1e6);
      const { localAddress = null, remoteAddress = null } = socket;
      end({ connectNs, localAddress, remoteAddress });
    });
    socket.once('error', () => end(NONE));
  });
}
