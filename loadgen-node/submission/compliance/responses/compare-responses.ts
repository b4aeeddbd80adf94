import { createHash } from 'node:crypto';
import { readAccuracyLog } from '../../../loadgen/logs/read/accuracy-log-reader.ts';

/** Types by which the official script reads a response; the default is bytes. */
export const RESPONSE_TYPES = ['byte', 'float32', 'int32', 'int64'] as const;

/** One of {@link RESPONSE_TYPES}. */
export type ResponseType = (typeof RESPONSE_TYPES)[number];

const BYTES_OF: Readonly<Record<ResponseType, number>> = {
  byte: 1,
  float32: 4,
  int32: 4,
  int64: 8,
};

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
  const { prints, ...ofAccuracy } = await readFingerprints(accuracyLog, type);
  // As the official script counts them: its mismatches are those with the entry before for the sample.
  const found = { testEntries: 0, matchedEntries: 0, firstElementMismatches: 0, missingSamples: 0 };
  let wholeMismatches = 0;
  let brokenResponse: { readonly sampleIndex: number; readonly bytes: number } | undefined;
  const differing = new Set<number>();
  // As the official script compares: it drops the accuracy run's response after the first use.
  const latest = new Map<number, Fingerprint>();
  const counts = new Map<number, number>();
  for await (const { sampleIndex, response } of readAccuracyLog(testLog)) {
    found.testEntries += 1;
    counts.set(sampleIndex, (counts.get(sampleIndex) ?? 0) + 1);
    const print = fingerprint(response, type);
    const expected = prints.get(sampleIndex);
    if (expected !== undefined && expected.digest !== print.digest) {
      wholeMismatches += 1;
      differing.add(sampleIndex);
    }
    const before = latest.get(sampleIndex) ?? expected;
    latest.set(sampleIndex, print);
    const partial = [print, before].find((one) => one && one.bytes % BYTES_OF[type] !== 0);
    if (partial !== undefined) brokenResponse ??= { sampleIndex, bytes: partial.bytes };
    if (before === undefined) {
      found.missingSamples += 1;
      continue;
    }
    found.matchedEntries += 1;
    if (!isSameFirstElement(before, print, type)) found.firstElementMismatches += 1;
  }
  return {
    ...ofAccuracy,
    ...found,
    wholeMismatches,
    differingSamples: [...differing],
    testSamples: latest.size,
    counts,
    brokenResponse,
  };
}

/** Result of {@link compareResponses}. */
export interface ResponseComparison {
  /** Entries whose bytes differ anywhere from the accuracy run's response. */
  readonly wholeMismatches: number;
  /** Samples with such an entry, in the order of the log. */
  readonly differingSamples: readonly number[];
  readonly testSamples: number;
  /** Entries of the test's log by sample index. */
  readonly counts: ReadonlyMap<number, number>;
  /** Set where the script would break off: a response is no whole number of elements. */
  readonly brokenResponse: { readonly sampleIndex: number; readonly bytes: number } | undefined;
  readonly testEntries: number;
  readonly matchedEntries: number;
  readonly firstElementMismatches: number;
  readonly missingSamples: number;
  readonly accuracyEntries: number;
  readonly accuracyDuplicates: number;
  readonly accuracyMismatches: number;
}

/** The first response of an accuracy log to each sample, and how its further ones compare with it. */
async function readFingerprints(path: string, type: ResponseType) {
  const prints = new Map<number, Fingerprint>();
  let accuracyEntries = 0;
  let accuracyMismatches = 0;
  for await (const { sampleIndex, response } of readAccuracyLog(path)) {
    accuracyEntries += 1;
    const print = fingerprint(response, type);
    const first = prints.get(sampleIndex) ?? print;
    prints.set(sampleIndex, first);
    if (first.digest !== print.digest) accuracyMismatches += 1;
  }
  const accuracyDuplicates = accuracyEntries - prints.size;
  return { prints, accuracyEntries, accuracyDuplicates, accuracyMismatches };
}

/**
 * Length, first element and digest of a response: enough to compare, and small enough for a whole
 * data set.
 */
function fingerprint(response: Uint8Array, type: ResponseType) {
  const digest = createHash('sha256').update(response).digest('base64');
  const first = Buffer.from(response.subarray(0, BYTES_OF[type]));
  return { bytes: response.length, first, digest };
}

type Fingerprint = ReturnType<typeof fingerprint>;

/** Elements are compared as numbers: 0 and -0 are the same, NaN is never the same. */
function isSameFirstElement(a: Fingerprint, b: Fingerprint, type: ResponseType): boolean {
  const bytes = BYTES_OF[type];
  if (a.bytes < bytes || b.bytes < bytes) return a.bytes < bytes && b.bytes < bytes;
  return type === 'float32'
    ? a.first.readFloatLE() === b.first.readFloatLE()
    : a.first.equals(b.first);
}
