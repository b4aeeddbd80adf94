import { formatNs } from '../../../shared/base/text/duration.ts';
import type { ResolvedSetting } from '../../../shared/config/resolve-settings.ts';
import { identifyNodes } from '../../run/ask-nodes.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import type { SearchIdentity } from './peak-file.ts';
import type { LoadSearch } from './peak-search.ts';

/** Settings that may differ when a search goes on: where it is kept, how it looks, and where the nodes are now. */
const FREE: readonly string[] = [
  'output',
  'force',
  'resume',
  'keepProbes',
  'sut',
  'cacheDir',
  'copySummaryToStdout',
  'copyDetailToStdout',
  // In the search as numbers, whatever they were called.
  'latency',
  'targetLatency',
  'percentile',
  'targetLatencyPercentile',
  'confirmLoads',
];

/**
 * What must be the same for a search to go on: settings, names of the nodes, their models.
 * @throws MlperfError where a node is not there, or not ready
 */
export async function peakIdentity(
  prepared: PreparedRun,
  search: LoadSearch,
  settings: readonly ResolvedSetting[],
): Promise<SearchIdentity> {
  const identity: Record<string, string> = {};
  for (const { key, raw } of settings) {
    if (raw !== undefined && !FREE.includes(key)) identity[key] = JSON.stringify(raw);
  }
  Object.assign(identity, numbersOf(search));
  const { names, models } = await identifyNodes(prepared);
  identity['names of the nodes'] = names.join(', ');
  identity['models of the nodes'] = models.join(', ');
  return identity;
}

/** What is searched, however it was asked for. */
function numbersOf(search: LoadSearch): SearchIdentity {
  const { full } = search;
  return {
    searched: search.kind,
    latency: formatNs(search.boundNs),
    percentile: String(search.percentile * 100),
    'full runs': String(full.runs),
    'duration of a full run': formatNs(full.minDurationNs),
    'queries of a full run': String(full.minQueryCount),
    'time of all screenings': formatNs(search.screeningNsMax),
  };
}
