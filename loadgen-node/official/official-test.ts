import { existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { configInvalid, withReason } from '../../shared/base/errors/mlperf-error.ts';
import { FILE_BYTES_MAX, makeFolder, readBounded } from '../../shared/base/files/read-file.ts';
import { SCENARIOS, TEST_MODES } from '../../shared/domain/scenario.ts';
import type { QuerySampleLibrary } from '../../shared/domain/system-under-test.ts';
import type { Round } from '../../shared/rules/rounds/rounds.ts';
import type { IssueDriver } from '../loadgen/engine/issue/issue-driver.ts';
import type { LogSettings } from '../loadgen/logs/write/test-logs.ts';
import type { ConfFile } from '../loadgen/settings/from-config.ts';
import type { TestSettings } from '../loadgen/settings/test-settings.ts';
import { loadAddon } from './addon.ts';
import { readLogsOf } from './compare-engines.ts';
import type { LinkedLoadgen } from './link.ts';
import { OfficialDriver } from './official-driver.ts';
import { tellParent } from './test-process.ts';
import { confOfSettings } from './user-conf.ts';

/** A run whose queries the C++ LoadGen issues. */
export interface OfficialTest {
  readonly linked: LinkedLoadgen;
  readonly settings: TestSettings;
  /** Settings before audit.config, which LoadGen reads itself. */
  readonly unaudited: TestSettings;
  readonly auditConfig: string | undefined;
  readonly round: Round;
  /** LoadGen's name of the benchmark. */
  readonly model: string;
  readonly log: LogSettings;
}

const USER_CONF = 'user.conf';

/** Round whose LoadGen has this version; for a version in between, the older round. */
export function roundOfVersion(version: string): Round {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const number = (major * 1000 + minor) * 1000 + patch;
  // First version of each round's LoadGen, newest first.
  const first: readonly (readonly [Round, number])[] = [
    ['v6.1', 6_000_017],
    // 6.0.2, tag v6.0.0pre, still has v5.1's seeds and rules.
    ['v6.0', 6_000_015],
    ['v5.1', 5_000_022],
    ['v5.0', 5_000_000],
  ];
  return first.find(([, least]) => number >= least)?.[0] ?? 'v4.1';
}

/** @throws MlperfError `ERR_CONFIG_INVALID` if the round's LoadGen is not the linked one */
export function fittingRound(
  { manifest: { build } }: LinkedLoadgen,
  asked: Round | undefined,
): Round {
  const round = roundOfVersion(build.version);
  if (asked === undefined || asked === round) return round;
  throw configInvalid(
    `--round ${asked}: the linked C++ LoadGen is version ${build.version}, of round ${round}; link that of ${asked}, or leave --round out`,
  );
}

/**
 * Writes user.conf into the run's folder, and makes the driver of its test.
 * @returns The driver, and the settings that LoadGen reads.
 * @throws MlperfError `ERR_CONFIG_INVALID` for settings that LoadGen's files cannot express,
 *   `ERR_OUTPUT`
 */
export function officialDriver(
  test: OfficialTest,
  qsl: QuerySampleLibrary,
): { readonly driver: IssueDriver; readonly settings: TestSettings } {
  const { linked, settings, round, model, log, auditConfig } = test;
  const { outdir } = log;
  const userConf = join(outdir, USER_CONF);
  const mlperfConf = checkoutConf(linked);
  const conf = confOfSettings(test.unaudited, { round, model, mlperfConf });
  withReason(`cannot write ${userConf}`, () => {
    makeFolder(outdir);
    writeFileSync(userConf, conf.text);
  });
  const options = {
    scenario: SCENARIOS.indexOf(settings.scenario),
    mode: TEST_MODES.indexOf(settings.mode),
    scenarioName: settings.scenario,
    model,
    issueThreads: settings.serverNumIssueQueryThreads,
    mlperfConf: mlperfConf?.name ?? '',
    userConf,
    // LoadGen reads the file of this name in the working directory unless another one is given.
    auditConf: auditConfOf(auditConfig, outdir),
    outdir,
    ...(conf.seeds ?? { qslRngSeed: '', sampleIndexRngSeed: '', scheduleRngSeed: '' }),
    prefixWithDatetime: log.prefixWithDatetime ?? false,
    copyDetailToStdout: log.copyDetailToStdout ?? false,
    copySummaryToStdout: log.copySummaryToStdout ?? false,
    enableTrace: log.enableTrace ?? false,
    qslName: qsl.name,
    totalSamples: qsl.totalSampleCount,
    performanceSamples: qsl.performanceSampleCount,
  };
  tellParent({ folder: outdir });
  const driver = new OfficialDriver(loadAddon(linked.addonPath), options, () => readLogsOf(outdir));
  // Settings changed by audit.config stay unchanged.
  const changed = Object.entries(test.settings).filter(
    ([field, value]) => value !== test.unaudited[field as keyof TestSettings],
  );
  return { driver, settings: { ...conf.settings, ...Object.fromEntries(changed) } };
}

/** Path of audit.config: compliance tests have it in the run's folder. */
function auditConfOf(name: string | undefined, outdir: string): string {
  if (name === undefined) return join(outdir, 'no-audit.config');
  const inFolder = join(outdir, basename(name));
  return existsSync(inFolder) ? inFolder : name;
}

/**
 * mlperf.conf of the checkout; undefined from v5.0 on, where the library contains it.
 * @throws MlperfError `ERR_CONFIG_INVALID` if it is missing
 */
export function checkoutConf({ manifest }: LinkedLoadgen): ConfFile | undefined {
  if (manifest.hasBuiltInConf) return undefined;
  const name = join(manifest.inferenceDir, 'mlperf.conf');
  if (existsSync(name)) {
    return { name, text: readBounded(name, FILE_BYTES_MAX.settings).toString('utf8') };
  }
  throw configInvalid(
    `${name} is not there: LoadGen ${manifest.build.version} reads the settings of its round from it`,
  );
}
