import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runTest } from '../../loadgen-node/loadgen/engine/start-test.ts';
import type { TestOutcome } from '../../loadgen-node/loadgen/engine/test-outcome.ts';
import { ExactSettings } from '../../loadgen-node/loadgen/settings/exact-settings.ts';
import {
  type ConfFile,
  ConfReader,
  type ConfResult,
} from '../../loadgen-node/loadgen/settings/from-config.ts';
import { loadgenOf } from '../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import { withRequestedTest05Seeds } from '../../loadgen-node/loadgen/settings/read-conf-files.ts';
import { SETTINGS_FIELDS } from '../../loadgen-node/loadgen/settings/test-settings.ts';
import type { Scenario } from '../../shared/domain/scenario.ts';
import type { Round } from '../../shared/rules/rounds/rounds.ts';
import { tempFolder } from '../scenes/host/folders.ts';
import { HarnessSut } from '../support/nodes/harness-sut.ts';
import { goldenFolders, readGoldenText } from '../support/runs/golden.ts';
import { MemoryQsl } from '../support/runs/memory-qsl.ts';
import { SimulatedClock } from '../support/runs/simulated-clock.ts';

type Args = Readonly<Record<string, string>>;

function argsOf(folder: string): Args {
  const words = readGoldenText(`${folder}/cmd.txt`).split(/\s+/);
  return Object.fromEntries(
    words.filter((word) => word.includes('=')).map((word) => word.split('=') as [string, string]),
  );
}

/** The file of a case. The harness's folders are not LoadGen's: names are without them. */
function fileOf(folder: string, path: string, copy: string): ConfFile {
  const name = path.replace(/^.*\//, '');
  if (name === 'nosuchfile.conf') return { name, text: null };
  return { name, text: readGoldenText(`${folder}/${copy}`) };
}

/** Lays the command's settings over those of the files, as the harness did. */
function applyArgs(settings: ExactSettings, args: Args): void {
  for (const { field, name, type } of SETTINGS_FIELDS) {
    const text = args[name];
    if (text === undefined) continue;
    const isInteger = type === 'u64' || type === 'int' || type === 'seed';
    const value = isInteger ? BigInt(text) : type === 'bool' ? text === '1' : Number(text);
    settings.set(field, value, 'command');
  }
}

/** Files, command, audit.config, test: in LoadGen's order. */
async function runLike(folder: string, round: Round): Promise<TestOutcome> {
  const args = argsOf(folder);
  const reader = new ConfReader(round);
  const settings = new ExactSettings((args['scenario'] ?? 'SingleStream') as Scenario);
  const model = args['model'] ?? '*';
  const results: ConfResult[] = [];
  if (args['mlperf_conf'] !== undefined) results.push(reader.readRound(settings, model));
  for (const path of [args['user_conf'], args['user_conf2']]) {
    if (path === undefined) continue;
    results.push(reader.readUser(settings, fileOf(folder, path, 'user.conf'), model));
  }
  applyArgs(settings, args);
  const audited = settings.clone();
  if (args['audit'] !== undefined) {
    const file = fileOf(folder, 'audit.config', 'audit.config');
    results.push(reader.readAudit(audited, file));
  }
  const clock = new SimulatedClock();
  return await clock.drive(
    runTest({
      sut: new HarnessSut(clock, args, 'Network_SUT_harness'),
      qsl: new MemoryQsl(Number(args['qsl_total']), Number(args['qsl_perf'])),
      clock,
      settings: withRequestedTest05Seeds(audited, settings).toTestSettings(),
      loadgen: loadgenOf(round),
      configEvents: results.flatMap((result) => result.events),
      usesTokenLatenciesBeforeAudit: settings.get('useTokenLatencies').value === true,
      log: { outdir: tempFolder() },
      stallTimeoutNs: 30e9,
      drainTimeoutNs: 2e9,
    }),
  );
}

/** Key and value of the lines that configuration decides, in order; 64-bit numbers as texts. */
function configuredLines(text: string): unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^:::MLLOG /, '').replace(/"value": (\d{16,})/, '"value": "$1"'))
    .map((line) => JSON.parse(line) as { key: string; value: unknown })
    .filter(({ key }) =>
      /^(requested|effective|warning|error)_|^loaded_qsl_set$|^generated_|^sut_name$/.test(key),
    )
    .filter(({ value }) => !String(value).startsWith('Logging allocation'))
    .map(({ key, value }) => [key, Array.isArray(value) ? value.slice(0, 40) : value]);
}

const FAMILIES: readonly (readonly [string, Round])[] = [
  ['configuration/logs-v4.1', 'v4.1'],
  ['configuration/logs-v6.1', 'v6.1'],
];

// Goal: what files and audit.config ask for stands in the detail log as in LoadGen's, errors and
// warnings in their places, and the test runs with it.
// Method: the golden run's files and command, under simulated time, with the harness's SUT.
describe.each(FAMILIES)('configured tests of %s', (folder, round) => {
  it.each(goldenFolders(folder))('log settings, errors and warnings of %s', async (name) => {
    const { logFiles } = await runLike(`${folder}/${name}`, round);
    const ours = configuredLines(readFileSync(logFiles.detail, 'utf8'));
    const golden = readGoldenText(`${folder}/${name}/mlperf_log_detail.jsonl`);
    expect(ours).toEqual(configuredLines(golden));
    // The responses that these tests log are equal byte for byte.
    if (!/TEST0[16]/.test(name)) return;
    const responses = readGoldenText(`${folder}/${name}/mlperf_log_accuracy.json`);
    expect(readFileSync(logFiles.accuracy, 'utf8')).toBe(responses);
  });
});
