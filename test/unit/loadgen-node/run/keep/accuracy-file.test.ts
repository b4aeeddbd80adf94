import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeAccuracyFile } from '../../../../../loadgen-node/run/keep/accuracy-file.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: a checker finds one line of accuracy and people find what the number is not. Method: the
// file itself.
const REPORT = { metric: 'top-1', value: 0.75, correctCount: 3, sampleCount: 4 };
const scriptLine = 'accuracy=75.000%, good=3, total=4';

function write(report: typeof REPORT & { scriptLine?: string }, ...marks: string[]) {
  const folder = tempFolder();
  writeAccuracyFile(folder, report, marks);
  const path = join(folder, 'accuracy.txt');
  return { folder, text: existsSync(path) ? readFileSync(path, 'utf8') : undefined };
}

describe('accuracy.txt', () => {
  it("is the script's line where models and data are the benchmark's own", () => {
    expect(write({ ...REPORT, scriptLine }).text).toBe(`${scriptLine}\n`);
  });

  it('says below it that the model or the data are stand-ins', () => {
    const marks = ['SUT node a runs x, a stand-in', 'the data set is a stand-in'];
    expect(write({ ...REPORT, scriptLine }, ...marks).text).toBe(
      `${scriptLine}\nnote: ${marks[0]}\nnote: ${marks[1]}\n`,
    );
  });

  it('lets no mark forge a line of accuracy', () => {
    const { text } = write({ ...REPORT, scriptLine }, 'runs x\naccuracy=99%');
    expect(text).toBe(`${scriptLine}\nnote: runs x\ufffdaccuracy=99%\n`);
  });

  it('is not there without such a line', () => {
    expect(write(REPORT, 'a stand-in').text).toBeUndefined();
  });
});
