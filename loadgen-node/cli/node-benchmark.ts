import type { Command } from 'commander';
import { protocolOf } from '../../qdl/protocols/index.ts';
import { Terminal } from '../../shared/base/process/terminal.ts';
import { setAskedValue, sourcesOf } from '../../shared/config/command-line.ts';
import { inspectSettings } from '../../shared/config/resolve-settings.ts';
import { pick, type SettingTable } from '../../shared/config/setting.ts';
import { isTestProcess } from '../official/test-process.ts';
import { askBenchmark } from '../run/ask-nodes.ts';
import { CONNECTION_OPTIONS } from '../run/plan/connection-options.ts';
import { RUN_MODEL_OPTIONS } from '../run/plan/model-options.ts';
import { RUN_SETTINGS } from '../run/plan/run-settings.ts';

const ASKED = {
  ...pick(RUN_SETTINGS, 'sut', 'benchmark'),
  ...RUN_MODEL_OPTIONS,
  ...CONNECTION_OPTIONS,
};

/**
 * If a command has no `--benchmark`, sets it to the benchmark of its first SUT node, and reports
 * that. Wrong settings are left to the verb, which names them.
 * @param table Settings of the verb.
 * @throws MlperfError if the node does not answer, or serves several
 */
export async function takeNodeBenchmark(command: Command, table: SettingTable): Promise<void> {
  const { values, problems } = inspectSettings({ ...table, ...ASKED }, sourcesOf(command, 'run'));
  const { sut = [], benchmark } = values as Partial<typeof values>; // Required ones may be missing.
  if (problems.length > 0 || benchmark !== undefined) return;
  const [first] = sut;
  if (first === undefined || protocolOf(first).traits.peer !== 'sut-node') return;
  const found = await askBenchmark(sut, values);
  if (found === undefined) return;
  setAskedValue(command, 'benchmark', found.benchmark, found.address);
  // Reported only once, by the process that started this one.
  if (isTestProcess()) return;
  const note = `SUT node ${found.address} serves ${found.benchmark}: taken as --benchmark`;
  new Terminal().line(`longhaul: note: ${note}`);
}
