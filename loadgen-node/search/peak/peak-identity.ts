import { askNames, createQueryDispatchLibrary } from '../../../qdl/index.ts';
import { formatNs } from '../../../shared/base/text/duration.ts';
import type { ResolvedSetting } from '../../../shared/config/resolve-settings.ts';
import type { PreparedRun } from '../../run/prepare/prepare-run.ts';
import type { SearchIdentity } from './peak-file.ts';
import type { PeakSearch } from './peak-search.ts';

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
  { plan, store }: PreparedRun,
  search: PeakSearch,
  settings: readonly ResolvedSetting[],
): Promise<SearchIdentity> {
  const identity: Record<string, string> = {};
  for (const { key, raw } of settings) {
    if (raw !== undefined && !FREE.includes(key)) identity[key] = JSON.stringify(raw);
  }
  Object.assign(identity, numbersOf(search));
  const { nodes } = await askNames(plan.dispatch);
  identity['names of the nodes'] = nodes.map(({ name }) => name ?? '').join(', ');
  identity['models of the nodes'] = (await modelsOf({ plan, store })).join(', ');
  return identity;
}

/** What is searched, however it was asked for. */
function numbersOf(search: PeakSearch): SearchIdentity {
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

/** The models, in the order of the nodes. */
async function modelsOf({ plan, store }: Pick<PreparedRun, 'plan' | 'store'>): Promise<string[]> {
  const qdl = createQueryDispatchLibrary(plan.dispatch, store);
  try {
    await qdl.connect(() => {});
    return qdl.nodes.map((node) => {
      const model = node.evidence().description?.model;
      return model == null ? 'none' : `${model.name} ${model.sha256}`.trim();
    });
  } finally {
    await qdl.stop();
  }
}
