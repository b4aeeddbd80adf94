import assert from 'node:assert';
import {
  ResponderBuilder,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';

/**
 * Ends calls whose messages gRPC itself would decompress: what travels is what the sample library holds,
 * and compression is the sample library's affair (rule: inference_rules v4.1, Network division:
 * "Compression is performed by QSL"). It also keeps bombs out: grpc-js would expand such a message on the
 * thread that serves everybody. Calls without compression pass through as they are, at no cost.
 *
 * grpc-js takes `grpc-encoding` out of the metadata before anybody sees it and keeps it in a field of the
 * call; that this field exists is asserted, so that a grpc-js without it cannot let such calls through.
 * Only the first of a server's interceptors gets that call itself.
 */
export const refuseCompression: ServerInterceptor = (_method, call) => {
  const encoding = messageEncoding(call);
  // The type asks for the class; grpc-js takes the call that it gave.
  if (encoding === 'identity') return call as ServerInterceptingCall;
  const details =
    `gRPC message compression (grpc-encoding: ${encoding}) is not taken: ` +
    'samples are compressed by the sample library, see Encoding.compression';
  const responder = new ResponderBuilder()
    // Nothing of the call is started: no message of it is read.
    .withStart(() => call.sendStatus({ code: status.INVALID_ARGUMENT, details, metadata: null }))
    .build();
  return new ServerInterceptingCall(call, responder);
};

function messageEncoding(call: ServerInterceptingCallInterface): string {
  const { incomingEncoding } = call as unknown as { readonly incomingEncoding: unknown };
  assert(typeof incomingEncoding === 'string', 'grpc-js keeps grpc-encoding in another place');
  return incomingEncoding;
}
