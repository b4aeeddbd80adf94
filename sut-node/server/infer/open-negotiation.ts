import type { Encoding__Output } from '../../../proto/gen/mlperf/network/v1/Encoding.ts';
import type { Open__Output } from '../../../proto/gen/mlperf/network/v1/Open.ts';
import { messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import type { PayloadEncoding } from '../../../shared/domain/system-under-test.ts';
import {
  agreedVersion,
  OWN_VERSIONS,
  ownSoftware,
  versionsInWords,
} from '../../../shared/wire/protocol-versions.ts';
import { decodeLoadGenMessage } from '../../../shared/wire/sut-contract.ts';
import type { NodeOffer } from '../describe/node-offer.ts';
import { failedPrecondition, invalidArgument } from '../limits/call-end.ts';

/** Longest run id: more than a UUID, too short to fill the ledger's memory. */
const RUN_ID_LENGTH_MAX = 128;

/** Decodes a message other than a part. @throws StreamRefusal if it is malformed. */
export function decodeControl(bytes: Buffer): ReturnType<typeof decodeLoadGenMessage> {
  try {
    return decodeLoadGenMessage(bytes);
  } catch (error) {
    throw invalidArgument(`malformed message: ${messageOf(error)}`);
  }
}

/** Result of Open and Opened. */
export interface Agreement {
  readonly runId: string;
  /** Indices into Open.encodings that the node accepts. */
  readonly encodings: readonly number[];
  /** Per index into Open.encodings: the node's number of the encoding; undefined: refused. */
  readonly forms: readonly (number | undefined)[];
  /** Per index into Open.encodings: whether the payload is compressed. */
  readonly isCompressed: readonly boolean[];
  /** Index into Open.response_encodings that the node uses. */
  readonly responseEncoding: number;
}

/**
 * Negotiates an Open.
 * @param isRead True for an offered encoding that the loaded model reads.
 * @throws StreamRefusal with both the node's and the peer's values.
 */
export function negotiateOpen(
  open: Open__Output,
  offer: NodeOffer,
  isRead: (encoding: PayloadEncoding) => boolean,
): Agreement {
  checkRun(open, offer);
  const forms = open.encodings.map((wanted) => {
    const form = offer.encodings.findIndex((one) => isRead(one) && isSame(one, wanted));
    return form < 0 ? undefined : form;
  });
  const encodings = forms.flatMap((form, index) => (form === undefined ? [] : [index]));
  if (encodings.length === 0) {
    const read = offer.encodings.filter(isRead);
    const who =
      read.length === offer.encodings.length
        ? `benchmark ${offer.benchmark}`
        : `benchmark ${offer.benchmark} with model ${offer.model}, as it is described,`;
    throw failedPrecondition(
      `${who} takes samples as ${list(read)}, the run offers ${list(open.encodings)}`,
    );
  }
  const responseEncoding = open.responseEncodings.findIndex((wanted) =>
    isSame(offer.responseEncoding, wanted),
  );
  if (responseEncoding < 0) {
    throw failedPrecondition(
      `responses travel as ${list([offer.responseEncoding])}, the run reads ` +
        `${list(open.responseEncodings)}: --response-compression of run and sut must fit`,
    );
  }
  const isCompressed = open.encodings.map(({ compression }) => !isIdentity(compression));
  return {
    runId: open.runId,
    encodings,
    forms,
    isCompressed,
    responseEncoding,
  };
}

function checkRun(open: Open__Output, offer: NodeOffer): void {
  checkVersion(open.protocolVersion);
  if (open.runId === '' || open.runId.length > RUN_ID_LENGTH_MAX) {
    throw invalidArgument(`Open.run_id must have 1 to ${RUN_ID_LENGTH_MAX} characters`);
  }
  if (open.division !== 'DIVISION_NETWORK' && open.division !== 'DIVISION_OPEN') {
    throw invalidArgument('Open.division must be DIVISION_NETWORK or DIVISION_OPEN');
  }
  if (open.benchmark !== offer.benchmark) {
    throw failedPrecondition(
      `this node serves benchmark "${offer.benchmark}", the run asks for "${open.benchmark}"`,
    );
  }
  if (open.model !== '' && open.model !== offer.model) {
    throw failedPrecondition(
      `this node serves model "${offer.model}", the run asks for "${open.model}"`,
    );
  }
}

/** Open names one version: the sender has read Describe. */
function checkVersion(version: number): void {
  if (agreedVersion({ min: version, max: version }) !== undefined) return;
  const older = version > OWN_VERSIONS.max ? 'this node' : 'the LoadGen node';
  throw failedPrecondition(
    `this node (${ownSoftware()}) speaks ${versionsInWords(OWN_VERSIONS)} of the protocol, the run asks for ` +
      `version ${version}: upgrade ${older}, which is the older one, or use one release of longhaul on both ends`,
  );
}

function isSame(ours: PayloadEncoding, theirs: Encoding__Output): boolean {
  if (ours.form !== theirs.form) return false;
  return isIdentity(theirs.compression)
    ? ours.compression === 'identity'
    : ours.compression === theirs.compression;
}

/** A peer that omits the field sends an empty compression. */
function isIdentity(compression: string): boolean {
  return compression === '' || compression === 'identity';
}

function list(encodings: readonly PayloadEncoding[]): string {
  if (encodings.length === 0) return 'nothing';
  return encodings
    .map(({ form, compression }) => `${form}/${compression || 'identity'}`)
    .join(', ');
}
