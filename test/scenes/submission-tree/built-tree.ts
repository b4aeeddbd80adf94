import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { SERVER_RUNS_V05 } from '../../../loadgen-node/loadgen/engine/test-outcome.ts';
import { RUN_FILES } from '../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { type AuditFacts, writeAudit } from '../../../loadgen-node/observe/network-audit.ts';
import { composeAudit } from '../../../loadgen-node/run/audit/compose-audit.ts';
import { writeAccuracyFile } from '../../../loadgen-node/run/keep/accuracy-file.ts';
import { runRecord } from '../../../loadgen-node/run/plan/run-record.ts';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import {
  type BuiltTree,
  buildSubmission,
} from '../../../loadgen-node/submission/assemble/build-submission.ts';
import {
  loggedResponses,
  type ResponseScorer,
} from '../../../loadgen-node/submission/compliance/responses/answers-by-sight.ts';
import { writeTestFolder } from '../../../loadgen-node/submission/compliance/test-folder.ts';
import { auditConfigText } from '../../../loadgen-node/submission/compliance/verify/audit-settings.ts';
import {
  verifyTest04,
  verifyTest05,
} from '../../../loadgen-node/submission/compliance/verify/verify-speed-tests.ts';
import type { TestVerdict } from '../../../loadgen-node/submission/compliance/verify/verify-test.ts';
import { verifyTest01 } from '../../../loadgen-node/submission/compliance/verify/verify-test01.ts';
import { verifyTest06 } from '../../../loadgen-node/submission/compliance/verify/verify-test06.ts';
import {
  modelOfFolder,
  modelsOfBenchmark,
} from '../../../loadgen-node/submission/rules/models-of-rounds.ts';
import { loadgenScenario } from '../../../loadgen-node/submission/rules/submission-model.ts';
import type {
  SubmissionDivision,
  SubmissionRound,
} from '../../../loadgen-node/submission/rules/submission-rounds.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import type {
  RunnableTestId,
  SubmissionModel,
  SubmissionScenario,
} from '../../../shared/rules/rows/model-row.ts';
import { tempFolder, writeTree } from '../host/folders.ts';
import {
  auditFacts,
  hostFacts,
  ledgerCounts,
  NOTHING_BESIDE,
  nodeEvidence,
} from '../simulated-run/audit-facts.ts';
import { simulateRun } from '../simulated-run/simulated-run.ts';
import { RESNET50, type SceneModel } from './scene-models.ts';
import { filledDescription } from './submission-tree.ts';

/** Streams that the system keeps up with where queries come in an interval, 50 ms: round v0.5. */
const V05_STREAMS = '2';

/** Runs and configuration of a scene. */
export interface SceneOptions {
  /** Empty folder; gets runs, `submission.yaml` and (by {@link buildScene}) `tree`. */
  readonly folder: string;
  /** Default: v4.1. */
  readonly round?: SubmissionRound;
  /** Default: ResNet-50. */
  readonly model?: SceneModel;
  /** Default: all three. */
  readonly divisions?: readonly SubmissionDivision[];
  /** Default: Server and Offline. */
  readonly scenarios?: readonly SubmissionScenario[];
  /** Compliance tests to lay down. Default: those of the round for the model. */
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
  /** Default: a folder that is not there yet. */
  readonly tree?: string;
}

type BuiltScene = BuiltTree & { readonly tree: string };

export interface Scene {
  readonly folder: string;
  /** Builds a tree after a change of the configuration, which the next build does not see. */
  readonly build: (change?: SceneChange, options?: BuildOptions) => Promise<BuiltScene>;
}

/** Makes runs of full length under simulated time, and a system description; no tree yet. */
export async function prepareScene(options: SceneOptions): Promise<Scene> {
  const { folder, round = 'v4.1', scenarios = ['Server', 'Offline'], model = RESNET50 } = options;
  const tests = options.tests ?? modelOf(model, round).tests;
  const scorer = await model.openScorer();
  for (const scenario of scenarios) {
    const [performance, accuracy] = ['performance', 'accuracy'].map((kind) =>
      join(folder, 'runs', scenario, kind),
    ) as [string, string];
    for (const { run, flags } of performanceRuns(performance, round, scenario)) {
      await sceneRun(run, options, scenario, { flags });
    }
    await sceneRun(accuracy, options, scenario, { flags: { mode: 'accuracy' } });
    const responses = await loggedResponses(join(accuracy, RUN_FILES.accuracy));
    writeAccuracyFile(accuracy, await scorer.score(responses), []);
    for (const test of tests) {
      await sceneTest(test, { round, performance, accuracy, options, scenario, scorer });
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
      const built = await buildSubmission({ config, tree, isDryRun, mayReplace });
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

/** In v0.5 the folder of resnet50 has another name. */
function modelOf({ folder, benchmark }: SceneModel, round: SubmissionRound): SubmissionModel {
  const found = modelOfFolder(round, folder) ?? modelsOfBenchmark(round, benchmark)[0];
  if (found === undefined) throw new Error(`${round} has no ${folder}`);
  return found;
}

/**
 * Folders of the performance runs of a result, as `longhaul run` leaves them, and flags of each.
 */
function performanceRuns(folder: string, round: SubmissionRound, scenario: SubmissionScenario) {
  if (round !== 'v0.5' || scenario !== 'Server') return [{ run: folder, flags: {} }];
  return Array.from({ length: SERVER_RUNS_V05 }, (_, i) => ({
    run: join(folder, `run_${i + 1}`),
    // The third run is the lowest.
    flags: { targetQps: String(20 + Math.abs(i - 2) / 10) },
  }));
}

async function sceneRun(
  folder: string,
  { round = 'v4.1', minDuration, facts = (one) => one, model = RESNET50 }: SceneOptions,
  scenario: SubmissionScenario,
  how: { readonly flags?: Readonly<Record<string, string>>; readonly auditConfig?: string },
): Promise<void> {
  const { flags: own, serviceNs } = scenarioOf(model, scenario);
  const { benchmark, totalSamples, responseOf, hasTokens } = model;
  const flags = {
    benchmark,
    scenario: loadgenScenario(scenario),
    round,
    ...own,
    ...(round === 'v0.5' && scenario === 'MultiStream' && { samplesPerQuery: V05_STREAMS }),
    ...(minDuration !== undefined && { minDuration }),
    ...how.flags,
  };
  const outcome = await simulateRun({
    folder,
    flags,
    ...{ totalSamples, responseOf, hasTokens },
    serviceNs: () => serviceNs,
    ...(how.auditConfig !== undefined && { auditConfig: how.auditConfig }),
    facts: () => null,
  });
  const phase = outcome.performance ?? outcome.accuracy;
  const isAccuracy = how.flags?.['mode'] === 'accuracy';
  const ofRun = facts(sceneFacts(model, scenario, isAccuracy, phase?.counts.issuedSamples ?? 0));
  if (ofRun !== null) writeAudit(folder, composeAudit(ofRun));
  const { settings } = resolveSettings(RUN_SETTINGS, {
    section: 'run',
    file: undefined,
    flags: { sut: '10.0.1.1:50051', output: folder, ...flags },
  });
  writeFileSync(join(folder, 'longhaul_run.yaml'), runRecord(settings));
}

function scenarioOf({ folder, scenarios }: SceneModel, scenario: SubmissionScenario) {
  const found = scenarios[scenario];
  if (found === undefined) throw new Error(`no ${scenario} of ${folder} in scenes`);
  return found;
}

/** Audit facts of a run in which one SUT node of longhaul completed every sample. */
function sceneFacts(
  { benchmark, payloadBytes, responseBytes, form }: SceneModel,
  scenario: SubmissionScenario,
  isAccuracy: boolean,
  count: number,
): AuditFacts {
  const counts = ledgerCounts({
    queryCount: scenario === 'Offline' && !isAccuracy ? 1 : count,
    partCount: count,
    sampleCount: count,
    payloadBytes: count * payloadBytes,
    completedCount: count,
    responseBytes: count * responseBytes,
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
      encodings: [{ form, compression: 'identity' }],
      streamCount: 1,
      repeatedStreamCount: 0,
      ...NOTHING_BESIDE,
    },
  });
  const facts = auditFacts([node]);
  const { queryCount } = counts;
  return {
    ...facts,
    run: {
      ...facts.run,
      benchmark,
      isOfficialBenchmark: true,
      scenario: loadgenScenario(scenario),
      encoding: { form, compression: 'identity' },
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

interface SceneTest {
  readonly round: SubmissionRound;
  readonly performance: string;
  readonly accuracy: string;
  readonly options: SceneOptions;
  readonly scenario: SubmissionScenario;
  readonly scorer: ResponseScorer;
}

/**
 * A test as `longhaul compliance` leaves it: its run, verified, and the files that its verdict has.
 */
async function sceneTest(test: string, of: SceneTest): Promise<void> {
  const { options, scenario } = of;
  const { benchmark } = options.model ?? RESNET50;
  const compliance = join(options.folder, 'runs', scenario, 'compliance');
  const raw = join(compliance, `${test}-run`);
  const auditConfig = auditConfigText(test as RunnableTestId, benchmark, loadgenScenario(scenario));
  await sceneRun(raw, options, scenario, { auditConfig });
  writeTestFolder(join(compliance, test), await verify(test, raw, of), `# ${test}\n`);
}

function verify(test: string, raw: string, of: SceneTest): Promise<TestVerdict> {
  const { round, performance, accuracy, scorer } = of;
  const runs = { round, performance, test: raw };
  if (test === 'TEST04') return verifyTest04(runs);
  if (test === 'TEST05') return verifyTest05(runs);
  if (test === 'TEST06') return verifyTest06({ ...runs, tokenType: 'int32', endToken: 2 });
  const type = { responseType: 'float32', accuracyTolerancePercent: 1 } as const;
  return verifyTest01({ ...runs, ...type, accuracy, scorer });
}

function sceneSubmission(options: SceneOptions): SceneSubmission {
  const { round = 'v4.1', scenarios = ['Server', 'Offline'], model = RESNET50 } = options;
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
        input_data_types: model.inputDataTypes,
        retraining: 'No',
      },
    },
    results: scenarios.map((scenario) => ({
      divisions: [...divisions],
      system: 'acme-2n',
      implementation: 'longhaul',
      model: modelOf(model, round).folder,
      scenario,
      performance: `runs/${scenario}/performance`,
      accuracy: `runs/${scenario}/accuracy`,
      compliance: `runs/${scenario}/compliance`,
    })),
  };
}
