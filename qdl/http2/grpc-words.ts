/** Texts for people about gRPC messages. */
export const GRPC_WIRE = {
  transport: 'gRPC over HTTP/2',
  /** Figures measured in proto/README.md. */
  framing:
    'a message has 12 to 20 bytes of its own, 5 of gRPC and 9 of HTTP/2 per frame of at most 16 KiB; a response has 20 to 50.',
  compression: 'gRPC message compression',
  uncompressed:
    'By construction requests go out uncompressed and offer no compression, and a response that arrives ' +
    'compressed is refused.',
  /**
   * Response headers as the gRPC library of a SUT node makes them. If a call is refused without a
   * message, the status is in the first headers. Rule: gRPC, doc/PROTOCOL-HTTP2.md,
   * "Trailers-Only".
   */
  answerHeaders: {
    sender: 'gRPC',
    names: [
      'content-type',
      'date',
      'grpc-accept-encoding',
      'grpc-encoding',
      'grpc-message',
      'grpc-status',
      'grpc-status-details-bin',
    ],
  },
};
