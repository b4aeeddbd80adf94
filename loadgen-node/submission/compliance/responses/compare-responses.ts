import { createHash } from 'node:crypto';
import { readAccuracyLog } from '../../../loadgen/logs/read/accuracy-log-reader.ts';

/** Types with which the official script reads a response; default: bytes. */
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
 * Compares the responses logged in performance mode with those of the accuracy run, like TEST01's
 * verify_accuracy.py, and also byte by byte. Streamed: only a digest per sample is stored.
 * @throws MlperfError `ERR_OUTPUT` if a log is damaged or truncated.
 */
export async function compareResponses(
  accuracyLog: string,
  testLog: string,
  type: ResponseType,
): Promise<ResponseComparison> {
  const { prints, ...ofAccuracy } = await readFingerprints(accuracyLog, type);
  // Counted like the official script: a mismatch is one with the sample's previous entry.
  const found = { testEntries: 0, matchedEntries: 0, firstElementMismatches: 0, missingSamples: 0 };
  let wholeMismatches = 0;
  let brokenResponse: { readonly sampleIndex: number; readonly bytes: number } | undefined;
  const differing = new Set<number>();
  // Compared like the official script: it drops the accuracy run's response after the first use.
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
  /** Entries that differ in any byte from the accuracy run's response. */
  readonly wholeMismatches: number;
  /** Samples with such an entry, in log order. */
  readonly differingSamples: readonly number[];
  readonly testSamples: number;
  /** Number of entries in the test's log by sample index. */
  readonly counts: ReadonlyMap<number, number>;
  /** Set if the script would crash: a response is not a whole number of elements. */
  readonly brokenResponse: { readonly sampleIndex: number; readonly bytes: number } | undefined;
  readonly testEntries: number;
  readonly matchedEntries: number;
  readonly firstElementMismatches: number;
  readonly missingSamples: number;
  readonly accuracyEntries: number;
  readonly accuracyDuplicates: number;
  readonly accuracyMismatches: number;
}

/** The first response of an accuracy log to each sample, and a comparison with further ones. */
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

/** Compares elements as numbers: 0 equals -0, NaN equals nothing. */
function isSameFirstElement(a: Fingerprint, b: Fingerprint, type: ResponseType): boolean {
  const bytes = BYTES_OF[type];
  if (a.bytes < bytes || b.bytes < bytes) return a.bytes < bytes && b.bytes < bytes;
  return type === 'float32'
    ? a.first.readFloatLE() === b.first.readFloatLE()
    : a.first.equals(b.first);
}
