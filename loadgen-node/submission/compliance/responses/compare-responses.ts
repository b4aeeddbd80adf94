import { createHash } from 'node:crypto';
import { readAccuracyLog } from '../../../loadgen/logs/read/accuracy-log-reader.ts';

/** Types as which the official script reads a response; bytes where nothing else is said. */
export const RESPONSE_TYPES = ['byte', 'float32', 'int32', 'int64'] as const;

/** One of {@link RESPONSE_TYPES}. */
export type ResponseType = (typeof RESPONSE_TYPES)[number];

const BYTES_OF: Readonly<Record<ResponseType, number>> = {
  byte: 1,
  float32: 4,
  int32: 4,
  int64: 8,
};

/** What the comparison of the accuracy log with the test's accuracy log found. */
export interface ResponseComparison {
  readonly accuracyEntries: number;
  /** Further entries of a sample that the accuracy log has already. */
  readonly accuracyDuplicates: number;
  /** Those of them that differ from the first one. */
  readonly accuracyMismatches: number;
  readonly testEntries: number;
  /** Entries of the test whose sample is known, as the official script counts them. */
  readonly matchedEntries: number;
  /** Entries of the test whose first element differs from that of the entry before for the sample. */
  readonly firstElementMismatches: number;
  /** Entries of the test for samples that the accuracy log lacks, as the official script counts them. */
  readonly missingSamples: number;
  /** Entries of the test whose bytes differ anywhere from the accuracy run's response. */
  readonly wholeMismatches: number;
  /** Samples that have such an entry, in the order of the log. */
  readonly differingSamples: readonly number[];
  /** Samples of which the test logged a response. */
  readonly testSamples: number;
  /** Set where the script would break off: a response is no whole number of elements. */
  readonly brokenResponse?: { readonly sampleIndex: number; readonly bytes: number };
}

/** What is kept of a response: enough to compare, little enough for a data set. */
interface Fingerprint {
  readonly bytes: number;
  /** First element: up to 8 bytes. */
  readonly first: Buffer;
  /** Of the whole response. */
  readonly digest: string;
}

/**
 * Compares the responses that a test logged in performance mode with those of the accuracy run, as TEST01's
 * verify_accuracy.py does, and besides byte by byte. Streamed: of each sample a digest is kept.
 * @throws MlperfError `ERR_OUTPUT` when a log is damaged or cut off.
 */
export async function compareResponses(
  accuracyLog: string,
  testLog: string,
  type: ResponseType,
): Promise<ResponseComparison> {
  const comparing = new ResponseComparing(type);
  for await (const { sampleIndex, response } of readAccuracyLog(accuracyLog)) {
    comparing.addAccuracy(sampleIndex, response);
  }
  for await (const { sampleIndex, response } of readAccuracyLog(testLog)) {
    comparing.addTest(sampleIndex, response);
  }
  return comparing.result();
}

class ResponseComparing {
  readonly #type: ResponseType;
  readonly #accuracy = new Map<number, Fingerprint>();
  /** What the official script compares with: it forgets the accuracy run's response after the first use. */
  readonly #latest = new Map<number, Fingerprint>();
  readonly #differing = new Set<number>();
  #broken: ResponseComparison['brokenResponse'];
  #accuracyEntries = 0;
  #accuracyDuplicates = 0;
  #accuracyMismatches = 0;
  #testEntries = 0;
  #matched = 0;
  #firstElementMismatches = 0;
  #missing = 0;
  #wholeMismatches = 0;

  constructor(type: ResponseType) {
    this.#type = type;
  }

  addAccuracy(sampleIndex: number, response: Uint8Array): void {
    this.#accuracyEntries += 1;
    const print = this.#fingerprint(response);
    const first = this.#accuracy.get(sampleIndex);
    if (first === undefined) {
      this.#accuracy.set(sampleIndex, print);
      return;
    }
    this.#accuracyDuplicates += 1;
    if (first.digest !== print.digest) this.#accuracyMismatches += 1;
  }

  addTest(sampleIndex: number, response: Uint8Array): void {
    this.#testEntries += 1;
    const print = this.#fingerprint(response);
    const expected = this.#accuracy.get(sampleIndex);
    if (expected !== undefined && expected.digest !== print.digest) {
      this.#wholeMismatches += 1;
      this.#differing.add(sampleIndex);
    }
    const before = this.#latest.get(sampleIndex) ?? expected;
    this.#latest.set(sampleIndex, print);
    this.#checkForm(sampleIndex, print);
    if (before === undefined) {
      this.#missing += 1;
      return;
    }
    this.#checkForm(sampleIndex, before);
    this.#matched += 1;
    if (!isSameFirstElement(before, print, this.#type)) this.#firstElementMismatches += 1;
  }

  result(): ResponseComparison {
    return {
      accuracyEntries: this.#accuracyEntries,
      accuracyDuplicates: this.#accuracyDuplicates,
      accuracyMismatches: this.#accuracyMismatches,
      testEntries: this.#testEntries,
      matchedEntries: this.#matched,
      firstElementMismatches: this.#firstElementMismatches,
      missingSamples: this.#missing,
      wholeMismatches: this.#wholeMismatches,
      differingSamples: [...this.#differing],
      testSamples: this.#latest.size,
      ...(this.#broken === undefined ? {} : { brokenResponse: this.#broken }),
    };
  }

  #fingerprint(response: Uint8Array): Fingerprint {
    const digest = createHash('sha256').update(response).digest('base64');
    const first = Buffer.from(response.subarray(0, BYTES_OF[this.#type]));
    return { bytes: response.length, first, digest };
  }

  #checkForm(sampleIndex: number, { bytes }: Fingerprint): void {
    if (bytes % BYTES_OF[this.#type] !== 0) this.#broken ??= { sampleIndex, bytes };
  }
}

/** Elements are compared as numbers: 0 and -0 are the same, NaN is never the same. */
function isSameFirstElement(a: Fingerprint, b: Fingerprint, type: ResponseType): boolean {
  const bytes = BYTES_OF[type];
  if (a.bytes < bytes || b.bytes < bytes) return a.bytes < bytes && b.bytes < bytes;
  return type === 'float32'
    ? a.first.readFloatLE() === b.first.readFloatLE()
    : a.first.equals(b.first);
}
