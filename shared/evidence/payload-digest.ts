import assert from 'node:assert';
import { createHash, hash } from 'node:crypto';

/** Name of the optional protocol feature (Describe.features, Open.features, Opened.features). */
export const PAYLOAD_DIGESTS_FEATURE = 'payload-digests';

/** 32-bit words of a SHA-256. */
const DIGEST_WORDS = 8;

/** Unit of {@link PayloadDigestSum}: one million is all samples. */
export const PER_MILLION = 1_000_000;

/** 2^32 divided by the golden ratio: separates the eight lanes and similar ids. */
const GOLDEN = 0x9e3779b9;

/**
 * SHA-256 of a payload in one or several pieces, as eight big-endian words. It covers the bytes on
 * the wire: compressed, if the sample library compressed them.
 */
export function sha256Words(pieces: readonly Uint8Array[]): Uint32Array {
  return wordsOf(sha256(pieces));
}

/** Bytes digested between two pauses. */
const PIECE_BYTES = 16 * 1024 * 1024;

/**
 * {@link sha256Words} of one payload, which may take seconds. @param pause Called between its
 * pieces.
 * @throws the error of `pause`
 */
export async function sha256WordsLong(
  payload: Uint8Array,
  pause: () => Promise<void>,
): Promise<Uint32Array> {
  if (payload.length <= PIECE_BYTES) return sha256Words([payload]);
  const sum = createHash('sha256');
  for (let at = 0; at < payload.length; at += PIECE_BYTES) {
    sum.update(payload.subarray(at, at + PIECE_BYTES));
    await pause();
  }
  return wordsOf(sum.digest());
}

function wordsOf(bytes: Buffer): Uint32Array {
  const words = new Uint32Array(DIGEST_WORDS);
  for (let i = 0; i < DIGEST_WORDS; i += 1) words[i] = bytes.readUInt32BE(i * 4);
  return words;
}

function sha256(pieces: readonly Uint8Array[]): Buffer {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return hash('sha256', first, 'buffer');
  const sum = createHash('sha256');
  for (const piece of pieces) sum.update(piece);
  return sum.digest();
}

/**
 * The ledger's digest of the payloads of a run: a sum over samples that does not depend on their
 * order, so that streams may interleave. Every sample's SHA-256 is combined with its wire id, so
 * that swapped payloads do not cancel out. proto/mlperf/network/v1/sut.proto,
 * LedgerResponse.payload_digest, defines it for nodes in any language.
 *
 * Evidence against mistakes, not against a node that lies. Hot path: 32-bit integers, no
 * allocation; 0.1 µs for a chosen sample, 0.01 µs for another.
 */
export class PayloadDigestSum {
  /** Share of the samples that are digested, in millionths; chosen by id. */
  readonly perMillion: number;
  readonly #lanes = new Uint32Array(DIGEST_WORDS);
  /** Threshold for mixed ids times a million: no division, and exact below 2^53. */
  readonly #chosenBelow: number;
  #count = 0;

  constructor(perMillion: number) {
    assert(Number.isInteger(perMillion));
    assert(perMillion >= 0);
    assert(perMillion <= PER_MILLION);
    this.perMillion = perMillion;
    this.#chosenBelow = perMillion * 2 ** 32;
  }

  /** Samples added. */
  get count(): number {
    return this.#count;
  }

  /**
   * True if the sample of this wire id (an integer below 2^53) is digested. Both ends choose alike.
   */
  isChosen(id: number): boolean {
    return mixId(id) * PER_MILLION < this.#chosenBelow;
  }

  /** Adds a sample if it is chosen. */
  add(id: number, digest: Uint32Array): void {
    if (this.perMillion === 0) return;
    const mixed = mixId(id);
    if (mixed * PER_MILLION >= this.#chosenBelow) return;
    const lanes = this.#lanes;
    for (let i = 0; i < DIGEST_WORDS; i += 1) {
      const lane = mix((digest[i] as number) ^ (mixed + Math.imul(i, GOLDEN)));
      lanes[i] = (lanes[i] as number) + lane; // A Uint32Array wraps modulo 2^32.
    }
    this.#count += 1;
  }

  /** LedgerResponse.payload_digest: 32 bytes, or none if no sample is digested. */
  toBytes(): Buffer {
    if (this.perMillion === 0) return Buffer.alloc(0);
    const bytes = Buffer.alloc(DIGEST_WORDS * 4);
    this.#lanes.forEach((lane, i) => {
      bytes.writeUInt32BE(lane, i * 4);
    });
    return bytes;
  }
}

/** Mixes both halves of an id, so that consecutive ids are chosen at random. */
function mixId(id: number): number {
  const high = Math.floor(id * 2 ** -32);
  // `| 0` keeps the low 32 bits.
  return mix((id | 0) + mix(high + GOLDEN));
}

/**
 * The finaliser of MurmurHash3 (32 bits): every bit of the result depends on every bit of the
 * number.
 */
function mix(number: number): number {
  let bits = number | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
