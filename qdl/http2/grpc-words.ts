/** What people read of messages that gRPC carries. */
export const GRPC_WIRE = {
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
