import { describe, expect, it } from 'vitest';
import { parseConf } from '../../loadgen-node/loadgen/settings/conf-grammar.ts';
import { ExactSettings } from '../../loadgen-node/loadgen/settings/exact-settings.ts';
import { ConfReader, type ReturnCode } from '../../loadgen-node/loadgen/settings/from-config.ts';
import { loadgenOf } from '../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import {
  fieldsOfRound,
  settingsJson,
} from '../../loadgen-node/loadgen/settings/settings-of-files.ts';
import type { Scenario } from '../../shared/domain/scenario.ts';
import {
  isRunnable,
  KNOWN_ROUNDS,
  type KnownRound,
  mlperfConfOf,
  ROUNDS,
  type Round,
} from '../../shared/rules/rounds/rounds.ts';
import { readGolden, readGoldenText } from '../scenes/simulated-run/golden.ts';

// Goal: rounds and configuration files give exactly the settings that the C++ LoadGen gets from
// them. Method: every row of the golden files, values compared with all their digits.

const FOLDER = 'configuration';

type Values = Readonly<Record<string, unknown>>;

/** Parses JSON with whole numbers of 16 digits and more as texts: a double would round them. */
function parseExact(text: string): unknown {
  return JSON.parse(text.replace(/: ?(\d{16,})(?=[,}\s])/g, ': "$1"'));
}

function valuesOf(settings: ExactSettings, round: Round): Values {
  return parseExact(settingsJson(settings, fieldsOfRound(loadgenOf(round), true))) as Values;
}

interface Row {
  readonly model: string;
  readonly scenario: Scenario;
  readonly settings: Values;
}

/** Keys and values of a round's file here. */
function linesOf(round: KnownRound): (readonly [string, string])[] {
  return [...parseConf(mlperfConfOf(round)).entries].map(([key, { text }]) => [key, text]);
}

function officialLines(round: KnownRound): readonly (readonly [string, string])[] {
  const { rounds } = readGolden<{ rounds: Record<string, [string, string][]> }>(
    `${FOLDER}/mlperf_conf_rounds.json`,
  );
  return rounds[round] ?? [];
}

const LOADGEN_ROUNDS = ROUNDS.filter((round) => round !== 'v0.5');

describe("a round's mlperf.conf", () => {
  it.each(KNOWN_ROUNDS.filter((round) => round !== 'v0.5' && !isRunnable(round)))(
    'of %s, which is only judged, has the keys and values of the official file',
    (round) => {
      const ours = linesOf(round).filter(
        ([key]) => !(round === 'v2.1' && key?.includes('test05_')),
      );
      expect(ours).toEqual(officialLines(round));
    },
  );

  it.each(LOADGEN_ROUNDS)(
    'of %s has the keys and values of the official file, and gives the settings of LoadGen',
    (round) => {
      const text = readGoldenText(`${FOLDER}/config_mlperf_conf_${round}.json`);
      const { rows } = parseExact(text) as { rows: Row[] };
      expect(rows.length).toBeGreaterThan(50);
      for (const { model, scenario, settings: expected } of rows) {
        const settings = new ExactSettings(scenario);
        expect(new ConfReader(round).readRound(settings, model).rc).toBe(0);
        expect({ model, scenario, settings: valuesOf(settings, round) }).toEqual({
          model,
          scenario,
          settings: expected,
        });
      }
      const { isOnlyOurs, isOnlyTheirs } = COPIES[round] ?? {};
      expect(linesOf(round).filter(([key]) => isOnlyOurs?.test(key ?? '') !== true)).toEqual(
        officialLines(round).filter(([key]) => isOnlyTheirs?.test(key) !== true),
      );
    },
  );
});

/**
 * Lines in which the copies of a round's file differ; ours is the one that the round's LoadGen had.
 */
const COPIES: Readonly<Partial<Record<Round, { isOnlyOurs?: RegExp; isOnlyTheirs?: RegExp }>>> = {
  'v5.1': { isOnlyTheirs: /^whisper\.\*\.sample_concatenate_permutation$/ },
  'v6.0': { isOnlyOurs: /^(gpt-oss-120b|wan-2\.2-t2v-a14b|yolo)/ },
};

interface UserCase {
  readonly name: string;
  readonly text: string | null;
  readonly model: string;
  readonly scenario: Scenario;
  readonly changed: Values;
}

/** Fields of `values` that `base` has otherwise. */
function changes(values: Values, base: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== base[key]));
}

/** As the golden file has been made: round v6.1, against an empty file of the same kind. */
function readAsV61(entry: UserCase & { conf_type: number }, text: string): [Values, ReturnCode] {
  const settings = new ExactSettings(entry.scenario);
  const reader = new ConfReader('v6.1');
  const file = { name: 'user.conf', text };
  const isAudit = entry.conf_type === 2;
  const { rc } = isAudit
    ? reader.readAudit(settings, file)
    : reader.readUser(settings, file, entry.model);
  return [valuesOf(settings, 'v6.1'), rc];
}

describe("user.conf and audit.config with round v6.1's LoadGen", () => {
  const text = readGoldenText(`${FOLDER}/config_user_conf_cases.json`);
  const { cases } = parseExact(text) as {
    cases: (UserCase & { conf_type: number; rc: ReturnCode })[];
  };

  it('change what the golden cases do', () => {
    expect(cases.length).toBeGreaterThan(0);
    for (const entry of cases) {
      const { name, rc: code, changed } = entry;
      const [values, rc] = readAsV61(entry, entry.text ?? '');
      const [base] = readAsV61(entry, '');
      expect({ name, rc, changed: changes(values, base) }).toEqual({ name, rc: code, changed });
    }
  });
});

interface PlainCase extends UserCase {
  readonly read_order: readonly string[];
  readonly audit_text: string | null;
  readonly rc: readonly ReturnCode[];
}

function readAsV41(entry: PlainCase): [Values, ReturnCode[]] {
  const settings = new ExactSettings(entry.scenario);
  const reader = new ConfReader('v4.1');
  const codes = entry.read_order.map((name) => {
    if (name === 'mlperf.conf') return reader.readRound(settings, entry.model).rc;
    if (name === 'user.conf') {
      return reader.readUser(settings, { name, text: entry.text }, entry.model).rc;
    }
    return reader.readAudit(settings, { name: 'audit.config', text: entry.audit_text }).rc;
  });
  return [valuesOf(settings, 'v4.1'), codes];
}

describe("user.conf and audit.config with round v4.1's LoadGen", () => {
  const text = readGoldenText(`${FOLDER}/config_user_conf_cases_v4.1.json`);
  const { cases } = parseExact(text) as { cases: PlainCase[] };

  it('change what the golden cases do', () => {
    expect(cases.length).toBeGreaterThan(0);
    for (const entry of cases) {
      const { name, rc: code, changed } = entry;
      const [values, rc] = readAsV41(entry);
      const [base] = readAsV41({ ...entry, read_order: ['mlperf.conf', 'user.conf'], text: '' });
      expect({ name, rc, changed: changes(values, base) }).toEqual({ name, rc: code, changed });
    }
  });
});
