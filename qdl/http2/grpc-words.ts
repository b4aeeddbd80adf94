/** Words for people about messages that gRPC carries. */
export const GRPC_WIRE = {
  transport: 'gRPC over HTTP/2',
  /** Measured figures of proto/README.md. */
  framing:
    'a message has 12 to 20 bytes of its own, 5 of gRPC and 9 of HTTP/2 per frame of at most 16 KiB; a response has 20 to 50.',
  compression: "gRPC's own compression of messages",
  uncompressed:
    'By construction requests go out uncompressed and offer no compression, and a response that arrives ' +
    'compressed is refused.',
  /**
   * Headers of an answer as gRPC makes them in a SUT node. Of a call that is refused without a message the status stands in
   * the first headers. Rule: gRPC, doc/PROTOCOL-HTTP2.md, "Trailers-Only".
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
