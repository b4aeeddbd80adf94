import type { Command } from 'commander';
import { Terminal } from '../../shared/base/process/terminal.ts';
import { sourcesOf } from '../../shared/config/command-line.ts';
import { inspectSettings, type SettingSources } from '../../shared/config/resolve-settings.ts';
import { pick } from '../../shared/config/setting.ts';
import { isOipAddress } from '../../shared/domain/node-address.ts';
import { isTestProcess } from '../official/test-process.ts';
import { askBenchmark } from '../run/ask-nodes.ts';
import { CONNECTION_OPTIONS } from '../run/plan/connection-options.ts';
import { OIP_OPTIONS } from '../run/plan/oip-options.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';

const ASKED = { ...pick(RUN_SETTINGS, 'sut', 'benchmark'), ...OIP_OPTIONS, ...CONNECTION_OPTIONS };

/**
 * Sets the flag `--benchmark` of a command that has none to what its first SUT node serves, and says so. Settings that are wrong are left
 * to the verb, which names them.
 * @throws MlperfError where the node does not answer, or serves several
 */
export async function takeNodeBenchmark(command: Command): Promise<void> {
  const { values, problems } = inspectSettings(ASKED, knownOnly(sourcesOf(command, 'run')));
  const { sut = [], benchmark } = values as Partial<typeof values>; // Required ones may be missing.
  if (benchmark !== undefined || sut.length === 0 || sut.some(isOipAddress)) return;
  if (problems.length > 0) return;
  const found = await askBenchmark(sut, values);
  if (found === undefined) return;
  command.setOptionValue('benchmark', found.benchmark);
  // Said once, by the process that started it.
  if (isTestProcess()) return;
  const note = `SUT node ${found.address} serves ${found.benchmark}: taken as --benchmark`;
  new Terminal().line(`longhaul: note: ${note}`);
}

/** A section holds all keys of its verb. */
function knownOnly({ file, ...sources }: SettingSources): SettingSources {
  const known = [...(file ?? [])].filter(([key]) => Object.hasOwn(ASKED, key));
  return { ...sources, file: file && new Map(known) };
}
