import type { LoggedDetail } from '../../loadgen/engine/test-context.ts';
import type { DataSetCheck } from '../../samples/data-set/check-data-set.ts';
import { CHECKSUM_FILE } from '../../samples/data-set/checksum-list.ts';
import type { DataSet } from '../../samples/data-set/data-set.ts';

/** What a result says of its data: marks of the data set's own, and that nobody knows whether it changed. */
export function dataSetMarks(dataSet: DataSet, check: DataSetCheck): string[] {
  const marks = [...(dataSet.marks ?? [])];
  if (isUnlisted(check)) {
    marks.push(
      `the data set was not compared with a list of checksums, only digested: ${listWriter(dataSet)} writes a list`,
    );
  }
  return marks;
}

/** The data set in the detail log. */
export function dataSetDetail(check: DataSetCheck): LoggedDetail {
  const { name, folder, sampleCount, fileCount, digest, list } = check;
  return {
    key: 'longhaul_data_set',
    value: {
      ...{ name, folder, sample_count: String(sampleCount), file_count: String(fileCount) },
      ...{ sha256: digest, verified: verifiedOf(check), list: list ?? '' },
    },
  };
}

/** The verb reads data sets of benchmarks; files of tensors (`--data`) are no benchmark's. */
function listWriter({ files: [first = ''] = [] }: DataSet): string {
  if (first.endsWith('.npy')) {
    return `in its folder "find . -name '*.npy' | sort | xargs sha256sum > ${CHECKSUM_FILE}"`;
  }
  if (first.endsWith('.jsonl')) return `in its folder "sha256sum ${first} > ${CHECKSUM_FILE}"`;
  return '"longhaul data checksums"';
}

function isUnlisted({ fileCount, list }: DataSetCheck): boolean {
  return fileCount > 0 && list === undefined;
}

function verifiedOf(check: DataSetCheck): string {
  if (check.fileCount === 0) return 'no files: samples are made up';
  return isUnlisted(check) ? 'no list' : 'yes';
}
