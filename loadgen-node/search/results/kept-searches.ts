import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { readBoundedText, writeText } from '../../../shared/base/files/read-file.ts';
import { curveFindings } from '../../present/curve/curve-findings.ts';
import { curveEnd, pointHeader, pointLines } from '../../present/curve/curve-text.ts';
import { CURVE_FILES, completedRate, throughputUnit } from '../../present/curve/load-point.ts';
import type { ReadSearch, SearchRow } from '../../present/list-runs.ts';
import { formatNumber } from '../../present/text/figure-text.ts';
import { hasCurveFile, readCurveFile } from '../curve/curve-files.ts';
import { readEfficiency } from '../efficiency/efficiency-report.ts';
import { peakOf } from '../peak/find-peak.ts';
import { loadText } from '../peak/peak-result.ts';
import { peakText } from '../peak/print-peak.ts';
import {
  hasPeakFile,
  isPeakOfSut,
  peakDocument,
  readPeakFile,
  searchLines,
} from '../peak/search-peak.ts';
import { gridOf, readSweep, SWEEP_FILE, SWEEP_PAGE, sweepTable } from '../sweep/sweep-file.ts';

/** Verbs whose results consist of many runs. */
export type SearchVerb = 'find-peak' | 'curve' | 'sweep' | 'efficiency';

/** A stored result: its row in a list, the verb's output, and its page. */
interface KeptSearch {
  readonly row: SearchRow;
  readonly text: string;
  readonly json: object;
  /** File in its folder; null if the verb has no page. */
  readonly page: string | null;
}

const EFFICIENCY_FILE = 'longhaul_efficiency.json';

/** The verb that made a folder; null if it is not a search. */
export function searchVerbOf(folder: string): SearchVerb | null {
  if (hasPeakFile(folder)) return 'find-peak';
  if (hasCurveFile(folder)) return 'curve';
  if (existsSync(join(folder, SWEEP_FILE))) return 'sweep';
  return existsSync(join(folder, EFFICIENCY_FILE)) ? 'efficiency' : null;
}

/** Reads a stored result. @throws MlperfError if its file is damaged or of another version */
export function readSearch(folder: string, verb: SearchVerb): KeptSearch {
  return { 'find-peak': peakIn, curve: curveIn, sweep: sweepIn, efficiency: efficiencyIn }[verb](
    folder,
  );
}

/** A result as a row of a list; null if the folder is not a search. */
export const searchRow: ReadSearch = (folder) => {
  const verb = searchVerbOf(folder);
  return verb && readSearch(folder, verb).row;
};

/**
 * Writes the page of a result to a requested file.
 * @throws MlperfError `ERR_CONFIG_INVALID` if there is none
 */
export function writeSearchPage(folder: string, { row, page }: KeptSearch, file: string): void {
  if (page === null) throw configInvalid(`--html: a result of ${row.verb} has no page`);
  const path = join(folder, page);
  if (!existsSync(path)) throw configInvalid(`--html: ${path} is not there`);
  writeText(file, readBoundedText(path, PAGE_BYTES_MAX));
}

const PAGE_BYTES_MAX = 64 * 2 ** 20;

function peakIn(folder: string): KeptSearch {
  const file = readPeakFile(folder);
  const { search, about, probes } = file;
  const result = peakOf(search, probes);
  const value = result?.value ?? null;
  const verdict = result === null ? 'broken off' : value === null ? 'no peak' : 'peak';
  const beside = { generator: ', LoadGen the limit', others: ', SUT not alone' };
  const { [result?.limit ?? '']: doubt = '' } = beside as Readonly<Record<string, string>>;
  const json = result === null ? { probes } : peakDocument(result);
  const lines = searchLines(file, folder);
  const end =
    result === null
      ? '\nBroken off: the same command with --resume goes on with it.\n'
      : peakText(search, result, folder);
  return {
    row: {
      ...about,
      verb: 'find-peak',
      verdict: `${verdict}${doubt}`,
      metric: value === null ? '-' : loadText(search, value).replace(' queries/s', ' /s'),
      isGood: result !== null && isPeakOfSut(result),
    },
    text: `${lines.join('\n')}\n${end}`,
    json: { about, ...json },
    page: CURVE_FILES.page,
  };
}

function curveIn(folder: string): KeptSearch {
  const file = readCurveFile(folder);
  const { about, ended, points, identity: _identity, format: _format, ...others } = file;
  const findings = curveFindings(file);
  const { peak } = findings;
  const unit = throughputUnit(file) === 'tokens' ? 'tokens/s' : '/s';
  const incomplete = ended === null ? '' : `INCOMPLETE: ${ended}\n`;
  const lines = points.flatMap((point) => pointLines(file, point));
  return {
    row: {
      ...about,
      verb: 'curve',
      verdict: ended === null ? 'curve' : 'curve, broken off',
      metric: peak === null ? '-' : `${formatNumber(completedRate(peak))} ${unit}`,
      isGood: ended === null,
    },
    text: `${incomplete}${[pointHeader(file), ...lines].join('\n')}\n${curveEnd(file, findings, folder)}`,
    json: { about, ...others, ended, ...findings, points },
    page: CURVE_FILES.page,
  };
}

function sweepIn(folder: string): KeptSearch {
  const sweep = readSweep(folder);
  const { cells, question } = sweep;
  // The file does not record its start.
  const startedAt = statSync(join(folder, SWEEP_FILE)).mtime.toISOString();
  const said = (key: string): string => JSON.parse(question.settings[key] ?? '"-"');
  const failed = cells.filter(({ result }) => 'failure' in result).length;
  return {
    row: {
      startedAt,
      labels: {},
      verb: 'sweep',
      benchmark: said('benchmark'),
      scenario: said('scenario'),
      verdict: `sweep of ${cells.length} links${failed === 0 ? '' : `, ${failed} failed`}`,
      metric: '-',
      isGood: failed === 0,
    },
    text: sweepTable(sweep, gridOf(sweep)),
    json: sweep,
    page: SWEEP_PAGE,
  };
}

function efficiencyIn(folder: string): KeptSearch {
  const { scenario, benchmark, side, text, json } = readEfficiency(join(folder, EFFICIENCY_FILE));
  const efficiency = 'comparison' in json ? json.comparison.efficiency : null;
  return {
    row: {
      startedAt: side.measuredAt,
      labels: {},
      benchmark,
      scenario,
      verb: 'efficiency',
      verdict: 'comparison' in json ? 'efficiency' : 'one side of an efficiency',
      metric: efficiency === null ? '-' : `${formatNumber(efficiency.value * 100)} %`,
      isGood: efficiency !== null,
    },
    text,
    json,
    page: null,
  };
}
