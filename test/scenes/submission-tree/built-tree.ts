import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { SERVER_RUNS_V05 } from '../../../loadgen-node/loadgen/engine/test-outcome.ts';
import { RUN_FILES } from '../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { type AuditFacts, writeAudit } from '../../../loadgen-node/observe/audit/network-audit.ts';
import { composeAudit } from '../../../loadgen-node/run/audit/compose-audit.ts';
import { writeAccuracyFile } from '../../../loadgen-node/run/keep/accuracy-file.ts';
import { runRecord } from '../../../loadgen-node/run/plan/run-record.ts';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import {
  type BuiltTree,
  buildSubmission,
} from '../../../loadgen-node/submission/assemble/build-submission.ts';
import { loggedResponses } from '../../../loadgen-node/submission/compliance/responses/answers-by-sight.ts';
import { writeTestFolder } from '../../../loadgen-node/submission/compliance/test-folder.ts';
import { auditConfigText } from '../../../loadgen-node/submission/compliance/verify/audit-settings.ts';
import {
  verifyTest04,
  verifyTest05,
} from '../../../loadgen-node/submission/compliance/verify/verify-speed-tests.ts';
import type { TestVerdict } from '../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import { verifyTest01 } from '../../../loadgen-node/submission/compliance/verify/verify-test01.ts';
import { modelsOfBenchmark } from '../../../loadgen-node/submission/rules/models-of-rounds.ts';
import type { SubmissionModel } from '../../../loadgen-node/submission/rules/submission-model.ts';
import type {
  RunnableTestId,
  SubmissionDivision,
  SubmissionRound,
} from '../../../loadgen-node/submission/rules/submission-rounds.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import {
  auditFacts,
  hostFacts,
  ledgerCounts,
  nodeEvidence,
} from '../../scenes/simulated-run/audit-facts.ts';
import { labelOf, simulateRun } from '../../scenes/simulated-run/simulated-run.ts';
import { tempFolder, writeTree } from '../host/folders.ts';
import { scorerOf } from './compliance-scene.ts';
import { filledDescription } from './submission-tree.ts';

/** Scenarios of resnet50 with their flags, and times of a sample with which runs take 600 s in few queries. */
const SCENARIOS = {
  Server: { flags: { targetQps: '20' }, serviceNs: 5e6 },
  Offline: { flags: { targetQps: '50' }, serviceNs: 20e6 },
  SingleStream: { flags: {}, serviceNs: 50e6 },
  MultiStream: { flags: { samplesPerQuery: '8' }, serviceNs: 10e6 },
} as const;

/** Streams that the system keeps up with where queries come in an interval, 50 ms: round v0.5. */
const V05_STREAMS = '2';

type SceneScenario = keyof typeof SCENARIOS;

/** Runs and configuration of a scene. */
export interface SceneOptions {
  /** Empty folder; gets runs, `submission.yaml` and (by {@link buildScene}) `tree`. */
  readonly folder: string;
  /** Default: v4.1. */
  readonly round?: SubmissionRound;
  /** Default: all three. */
  readonly divisions?: readonly SubmissionDivision[];
  /** Default: Server and Offline. */
  readonly scenarios?: readonly SceneScenario[];
  /** Compliance tests to lay down. Default: those of the round for resnet50. */
  readonly tests?: readonly string[];
  readonly systemType?: 'datacenter' | 'edge';
  /** Shortest performance run; default: 600s. */
  readonly minDuration?: string;
  /** Facts of network_audit.json of every run; null: none is written, as with another LoadGen. */
  readonly facts?: (facts: AuditFacts) => AuditFacts | null;
  /** Changes submission.yaml. */
  readonly change?: SceneChange;
}

// biome-ignore lint/suspicious/noExplicitAny: tests write what the schema has to refuse.
type Anything = any;

/** The configuration as a plain value, to be changed. */
export interface SceneSubmission {
  submitter: Anything;
  round: Anything;
  systems: Anything;
  implementations: Anything;
  results: Anything[];
}

export type SceneChange = (submission: SceneSubmission) => void;

/** How a scene's tree is built. */
interface BuildOptions {
  readonly isDryRun?: boolean;
  readonly mayReplace?: boolean;
  readonly selfCheck?: (tree: string) => Promise<string>;
  /** Default: a folder that is not there yet. */
  readonly tree?: string;
}

type BuiltScene = BuiltTree & { readonly tree: string };

export interface Scene {
  readonly folder: string;
  /** Builds a tree after a change of the configuration, which the next build does not see. */
  readonly build: (change?: SceneChange, options?: BuildOptions) => Promise<BuiltScene>;
}

const TOTAL_SAMPLES = 50_000;
/** Bytes of a JPEG of the data set, and of a response. */
const PAYLOAD_BYTES = 110_003;

/** Makes runs of full length under simulated time, and a system description; no tree yet. */
export async function prepareScene(options: SceneOptions): Promise<Scene> {
  const { folder, round = 'v4.1', scenarios = ['Server', 'Offline'] } = options;
  const tests = options.tests ?? resnetOf(round).tests;
  for (const scenario of scenarios) {
    const [performance, accuracy] = ['performance', 'accuracy'].map((kind) =>
      join(folder, 'runs', scenario, kind),
    ) as [string, string];
    for (const { run, flags } of performanceRuns(performance, round, scenario)) {
      await sceneRun(run, options, scenario, { flags });
    }
    await sceneRun(accuracy, options, scenario, { flags: { mode: 'accuracy' } });
    const responses = await loggedResponses(join(accuracy, RUN_FILES.accuracy));
    writeAccuracyFile(accuracy, await SCORER.score(responses), []);
    for (const test of tests) {
      await sceneTest(test, { round, performance, accuracy, options, scenario });
    }
  }
  const system = filledDescription(options.systemType ?? 'datacenter');
  writeTree(
    {
      'systems/acme-2n.json': `${JSON.stringify(system, null, 2)}\n`,
      'resnet50_v1.onnx': 'weights of the test\n',
      'setup.sh': '#!/bin/sh\nnpm install --global longhaul\n',
    },
    folder,
  );
  const submission = sceneSubmission(options);
  options.change?.(submission);
  const config = join(folder, 'submission.yaml');
  return {
    folder,
    build: async (change = () => {}, how = {}) => {
      const changed = structuredClone(submission);
      change(changed);
      writeFileSync(config, stringify({ submission: changed }));
      const { isDryRun = false, mayReplace = false, tree = join(tempFolder(), 'tree') } = how;
      const built = await buildSubmission({ ...how, config, tree, isDryRun, mayReplace });
      return { ...built, tree };
    },
  };
}

/** {@link prepareScene}, then the tree from it, in `tree` of its folder. */
export async function buildScene(
  options: SceneOptions & { readonly isDryRun?: boolean },
): Promise<BuiltScene> {
  const { build } = await prepareScene(options);
  const { folder, isDryRun = false } = options;
  return build(undefined, { isDryRun, tree: join(folder, 'tree') });
}

function resnetOf(round: SubmissionRound): SubmissionModel {
  const [model] = modelsOfBenchmark(round, 'resnet50');
  if (model === undefined) throw new Error(`${round} has no resnet50`);
  return model;
}

/** Folders of the performance runs of a result, as `longhaul run` leaves them, and flags of each. */
function performanceRuns(folder: string, round: SubmissionRound, scenario: SceneScenario) {
  if (round !== 'v0.5' || scenario !== 'Server') return [{ run: folder, flags: {} }];
  return Array.from({ length: SERVER_RUNS_V05 }, (_, i) => ({
    run: join(folder, `run_${i + 1}`),
    // The third run is the lowest.
    flags: { targetQps: String(20 + Math.abs(i - 2) / 10) },
  }));
}

async function sceneRun(
  folder: string,
  { round = 'v4.1', minDuration, facts = (one) => one }: SceneOptions,
  scenario: SceneScenario,
  how: { readonly flags?: Readonly<Record<string, string>>; readonly auditConfig?: string },
): Promise<void> {
  const { flags: own, serviceNs } = SCENARIOS[scenario];
  const flags = {
    scenario,
    round,
    ...own,
    ...(round === 'v0.5' && scenario === 'MultiStream' && { samplesPerQuery: V05_STREAMS }),
    ...(minDuration !== undefined && { minDuration }),
    ...how.flags,
  };
  const outcome = await simulateRun({
    folder,
    flags,
    totalSamples: TOTAL_SAMPLES,
    serviceNs: () => serviceNs,
    ...(how.auditConfig !== undefined && { auditConfig: how.auditConfig }),
    facts: () => null,
  });
  const phase = outcome.performance ?? outcome.accuracy;
  const ofRun = facts(
    sceneFacts(scenario, how.flags?.['mode'] === 'accuracy', phase?.counts.issuedSamples ?? 0),
  );
  if (ofRun !== null) writeAudit(folder, composeAudit(ofRun));
  const { settings } = resolveSettings(RUN_SETTINGS, {
    section: 'run',
    file: undefined,
    flags: { sut: '10.0.1.1:50051', benchmark: 'resnet50', output: folder, ...flags },
  });
  writeFileSync(join(folder, 'longhaul_run.yaml'), runRecord(settings));
}

/** Audit facts of a run in which one SUT node of longhaul completed every sample. */
function sceneFacts(scenario: SceneScenario, isAccuracy: boolean, count: number): AuditFacts {
  const counts = ledgerCounts({
    queryCount: scenario === 'Offline' && !isAccuracy ? 1 : count,
    partCount: count,
    sampleCount: count,
    payloadBytes: count * PAYLOAD_BYTES,
    completedCount: count,
    responseBytes: count * 4,
  });
  const base = nodeEvidence('sut-a');
  const node = nodeEvidence('sut-a', {
    description: base.description && {
      ...base.description,
      components: [
        { name: 'node', version: '20.19.5' },
        { name: 'onnxruntime', version: '1.30.0' },
      ],
      settings: {
        workers: '1',
        batching: 'No batching: every sample is an inference of its own.',
      },
      host: hostFacts('sut-a'),
    },
    ours: counts,
    theirs: {
      ...counts,
      encodings: [{ form: 'jpeg', compression: 'identity' }],
      streamCount: 1,
      repeatedStreamCount: 0,
    },
  });
  const facts = auditFacts([node]);
  const { queryCount } = counts;
  return {
    ...facts,
    run: {
      ...facts.run,
      benchmark: 'resnet50',
      isOfficialBenchmark: true,
      scenario,
      mode: isAccuracy ? 'AccuracyOnly' : 'PerformanceOnly',
      issuedQueries: queryCount,
      issuedSamples: count,
      loadgen: {
        issuedQueries: queryCount,
        issuedSamples: count,
        completedSamples: count,
        lostSamples: 0,
      },
    },
  };
}

/** The model is right for 38,250 of the 50,000 samples, which lie among the others: 7,919 shares no factor with 50,000. */
const SCORER = scorerOf(TOTAL_SAMPLES, (sample) =>
  (sample * 7_919) % TOTAL_SAMPLES < 38_250 ? labelOf(sample) : (labelOf(sample) + 1) % 1_000,
);

interface SceneTest {
  readonly round: SubmissionRound;
  readonly performance: string;
  readonly accuracy: string;
  readonly options: SceneOptions;
  readonly scenario: SceneScenario;
}

/** A test as `longhaul compliance` leaves it: its run, verified, and the files that its verdict has. */
async function sceneTest(test: string, of: SceneTest): Promise<void> {
  const { options, scenario } = of;
  const compliance = join(options.folder, 'runs', scenario, 'compliance');
  const raw = join(compliance, `${test}-run`);
  const auditConfig = auditConfigText(test as RunnableTestId, 'resnet50', scenario);
  await sceneRun(raw, options, scenario, { auditConfig });
  writeTestFolder(join(compliance, test), await verify(test, raw, of), `# ${test}\n`);
}

function verify(test: string, raw: string, of: SceneTest): Promise<TestVerdict> {
  const { round, performance, accuracy } = of;
  const runs = { round, performance, test: raw };
  if (test === 'TEST04') return verifyTest04(runs);
  if (test === 'TEST05') return verifyTest05(runs);
  const type = { responseType: 'float32', accuracyTolerancePercent: 1 } as const;
  return verifyTest01({ ...runs, ...type, accuracy, scorer: SCORER });
}

function sceneSubmission(options: SceneOptions): SceneSubmission {
  const { round = 'v4.1', scenarios = ['Server', 'Offline'] } = options;
  const divisions = options.divisions ?? ['network', 'closed', 'open'];
  return {
    submitter: 'ACME',
    round,
    systems: {
      'acme-2n': {
        file: 'systems/acme-2n.json',
        data_path: 'NIC, PCIe 4.0 x16, host memory; the model runs on the host.',
        data_path_evidence: 'PCIe 4.0 x16 carries 252 Gbit/s.',
        network: {
          sut_nodes: ['sut-a'],
          components: [{ id: 'sw1', kind: 'switch', name: 'Switch of the test, 32 x 100G' }],
          links: [
            { from: 'loadgen', to: 'sw1', media: 'copper (DAC)', rate: '25G' },
            { from: 'sw1', to: 'sut', media: 'copper (DAC)', rate: '25G' },
          ],
        },
      },
    },
    implementations: {
      longhaul: {
        scripts: ['setup.sh'],
        run_commands: './setup.sh',
        weights: [{ file: 'resnet50_v1.onnx' }],
        software: [{ name: 'Debian', version: '12', method: 'binary', release: 'production' }],
        calibration: { text: 'The weights are used as they are: no calibration, no quantization.' },
        starting_weights_filename: 'resnet50_v1.onnx',
        weight_data_types: 'fp32',
        weight_transformations: 'none',
        input_data_types: 'uint8',
        retraining: 'No',
      },
    },
    results: scenarios.map((scenario) => ({
      divisions: [...divisions],
      system: 'acme-2n',
      implementation: 'longhaul',
      model: resnetOf(round).folder,
      scenario,
      performance: `runs/${scenario}/performance`,
      accuracy: `runs/${scenario}/accuracy`,
      compliance: `runs/${scenario}/compliance`,
    })),
  };
}
