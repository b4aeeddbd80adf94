import type { Command } from 'commander';
import { protocolOf } from '../../qdl/protocols/index.ts';
import { Terminal } from '../../shared/base/process/terminal.ts';
import { setAskedValue, sourcesOf } from '../../shared/config/command-line.ts';
import { inspectSettings, resolveSettings } from '../../shared/config/resolve-settings.ts';
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
 * that. No node is asked with wrong settings.
 * @param table Settings of the verb.
 * @throws MlperfError `ERR_CONFIG_INVALID` for wrong settings, without asking for `--benchmark`,
 *   which the node may report later; or if the node does not answer, or serves several
 */
export async function takeNodeBenchmark(command: Command, table: SettingTable): Promise<void> {
  const sources = sourcesOf(command, 'run');
  const { values, settings, problems } = inspectSettings({ ...table, ...ASKED }, sources);
  const isSaid = (name: string): boolean =>
    settings.some(({ key, raw }) => key === name && raw !== undefined);
  if (isSaid('benchmark') || !isSaid('sut')) return;
  const { sut } = values as Partial<typeof values>; // Undefined if its value is wrong.
  const first = sut?.[0];
  if (first !== undefined && protocolOf(first).traits.peer !== 'sut-node') return;
  if (problems.length > 0) {
    resolveSettings({ ...table, benchmark: { ...ASKED.benchmark, isRequired: false } }, sources);
  }
  if (sut === undefined) return;
  const found = await askBenchmark(sut, values);
  if (found === undefined) return;
  setAskedValue(command, 'benchmark', found.benchmark, found.address);
  // Reported only once, by the process that started this one.
  if (isTestProcess()) return;
  const note = `SUT node ${found.address} serves ${found.benchmark}: taken as --benchmark`;
  new Terminal().line(`longhaul: note: ${note}`);
}
