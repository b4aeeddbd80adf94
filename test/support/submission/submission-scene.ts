import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { RUN_FILES } from '../../../loadgen-node/loadgen/logs/read/run-folder.ts';
import { type AuditFacts, writeAudit } from '../../../loadgen-node/observe/audit/network-audit.ts';
import { composeAudit } from '../../../loadgen-node/run/audit/compose-audit.ts';
import { writeAccuracyFile } from '../../../loadgen-node/run/keep/accuracy-file.ts';
import { runRecord } from '../../../loadgen-node/run/plan/run-record.ts';
import { RUN_SETTINGS } from '../../../loadgen-node/run/plan/run-settings.ts';
import { scoreResponses } from '../../../loadgen-node/samples/benchmarks/imagenet/imagenet-data-set.ts';
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
import type {
  RunnableTestId,
  SubmissionDivision,
  SubmissionRound,
} from '../../../loadgen-node/submission/rules/submission-rounds.ts';
import {
  NETWORK_FIELDS,
  SYSTEM_FIELDS,
} from '../../../loadgen-node/submission/tree/system-fields.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import { auditFacts, hostFacts, ledgerCounts, nodeEvidence } from '../runs/audit-facts.ts';
import { labelOf, simulateRun } from '../runs/simulated-run.ts';

/** Scenarios of resnet50 that a scene can have. */
export type SceneScenario = 'Server' | 'Offline' | 'SingleStream' | 'MultiStream';

/** What a scene is to hold. */
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
  /** Changes what stands in submission.yaml. */
  readonly change?: (submission: SceneSubmission) => void;
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

/** Files of a scene. */
export interface Scene {
  readonly folder: string;
  readonly config: string;
  /** Where {@link buildScene} puts the tree. */
  readonly tree: string;
}

const FLAGS: Readonly<Record<SceneScenario, Readonly<Record<string, string>>>> = {
  Server: { targetQps: '20' },
  Offline: { targetQps: '50' },
  SingleStream: {},
  MultiStream: { samplesPerQuery: '8' },
};

/** Times of a sample with which runs take 600 s and little more, in few queries. */
const SERVICE_NS: Readonly<Record<SceneScenario, number>> = {
  Server: 5e6,
  Offline: 20e6,
  SingleStream: 50e6,
  MultiStream: 10e6,
};

const TOTAL_SAMPLES = 50_000;
/** Bytes of a JPEG of the data set, and of a response. */
const PAYLOAD_BYTES = 110_003;

/** Makes runs of full length under simulated time, a system description and submission.yaml; no tree yet. */
export async function prepareScene(options: SceneOptions): Promise<Scene> {
  const { folder, round = 'v4.1', scenarios = ['Server', 'Offline'] } = options;
  const scene = { folder, config: join(folder, 'submission.yaml'), tree: join(folder, 'tree') };
  const tests =
    options.tests ?? (round === 'v4.1' ? ['TEST01', 'TEST04', 'TEST05'] : ['TEST01', 'TEST04']);
  mkdirSync(join(folder, 'systems'), { recursive: true });
  for (const scenario of scenarios) {
    const path = (kind: string): string => join(folder, 'runs', scenario, kind);
    await sceneRun(path('performance'), options, scenario, {});
    await sceneRun(path('accuracy'), options, scenario, { mode: 'accuracy' });
    const logged = await loggedResponses(join(path('accuracy'), RUN_FILES.accuracy));
    writeAccuracyFile(path('accuracy'), await SCORER.score(logged), []);
    const runs = { performance: path('performance'), accuracy: path('accuracy') };
    for (const test of tests) {
      await sceneTest(path('compliance'), test, { ...runs, options, scenario });
    }
  }
  const system = sceneSystem(options.systemType ?? 'datacenter');
  writeFileSync(join(folder, 'systems', 'acme-2n.json'), `${JSON.stringify(system, null, 2)}\n`);
  writeFileSync(join(folder, 'resnet50_v1.onnx'), 'weights of the test\n');
  writeFileSync(join(folder, 'setup.sh'), '#!/bin/sh\nnpm install --global longhaul\n');
  const submission = sceneSubmission(options);
  options.change?.(submission);
  writeFileSync(scene.config, stringify({ submission }));
  return scene;
}

/** {@link prepareScene}, then the tree from it. */
export async function buildScene(
  options: SceneOptions & { readonly isDryRun?: boolean },
): Promise<Scene & { readonly built: BuiltTree }> {
  const scene = await prepareScene(options);
  const { config, tree } = scene;
  const isDryRun = options.isDryRun === true;
  const built = await buildSubmission({ config, tree, isDryRun, mayReplace: true });
  return { ...scene, built };
}

/** Copies of a run what another LoadGen would have left: its logs, and the accuracy script's text. */
export function copyAsForeignRun(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of ['summary.txt', 'detail.txt', 'accuracy.json']) {
    copyFileSync(join(from, `mlperf_log_${name}`), join(to, `mlperf_log_${name}`));
  }
  const text = join(from, 'accuracy.txt');
  if (existsSync(text)) copyFileSync(text, join(to, 'accuracy.txt'));
}

async function sceneRun(
  folder: string,
  { round = 'v4.1', minDuration, facts }: SceneOptions,
  scenario: SceneScenario,
  more: { readonly mode?: string; readonly auditConfig?: string },
): Promise<void> {
  const { auditConfig, mode } = more;
  const flags = {
    scenario,
    round,
    ...FLAGS[scenario],
    ...(minDuration !== undefined && { minDuration }),
    ...(mode !== undefined && { mode }),
  };
  const outcome = await simulateRun({
    folder,
    flags,
    totalSamples: TOTAL_SAMPLES,
    serviceNs: () => SERVICE_NS[scenario],
    ...(auditConfig !== undefined && { auditConfig }),
    facts: () => null,
  });
  const phase = outcome.performance ?? outcome.accuracy;
  const count = phase?.counts.issuedSamples ?? 0;
  const isAccuracy = mode === 'accuracy';
  const own = (facts ?? ((one) => one))(sceneFacts(scenario, isAccuracy, count));
  if (own !== null) writeAudit(folder, composeAudit(own));
  const said = { sut: '10.0.1.1:50051', benchmark: 'resnet50', output: folder, ...flags };
  const { settings } = resolveSettings(RUN_SETTINGS, {
    section: 'run',
    file: undefined,
    flags: said,
  });
  writeFileSync(join(folder, 'longhaul_run.yaml'), runRecord(settings));
}

/** A node that took everything, with what a SUT node of longhaul tells of itself. */
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
        batching: 'Nothing is batched: every sample is an inference of its own.',
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
const LABELS = Uint16Array.from({ length: TOTAL_SAMPLES }, (_, sample) =>
  (sample * 7_919) % TOTAL_SAMPLES < 38_250 ? labelOf(sample) : (labelOf(sample) + 1) % 1_000,
);

const SCORER: ResponseScorer = {
  score: async (entries) => scoreResponses(entries, LABELS, 'top-1'),
  marks: () => [],
};

/** Runs that a test of a scene belongs to. */
interface SceneTest {
  readonly performance: string;
  readonly accuracy: string;
  readonly options: SceneOptions;
  readonly scenario: SceneScenario;
}

/** A test as `longhaul compliance` leaves it: its run, verified, and the files that its verdict has. */
async function sceneTest(compliance: string, test: string, of: SceneTest): Promise<void> {
  const { options, scenario } = of;
  const raw = join(compliance, `${test}-run`);
  const auditConfig = auditConfigText(test as RunnableTestId, 'resnet50', scenario);
  await sceneRun(raw, options, scenario, { auditConfig });
  const verdict = await verifySceneTest(test, raw, of);
  writeTestFolder(join(compliance, test), verdict, `# ${test}\n`);
}

function verifySceneTest(
  test: string,
  raw: string,
  { performance, accuracy, options }: SceneTest,
): Promise<TestVerdict> {
  const runs = { round: options.round ?? 'v4.1', performance, test: raw } as const;
  if (test === 'TEST04') return verifyTest04(runs);
  if (test === 'TEST05') return verifyTest05(runs);
  const type = { responseType: 'float32', accuracyTolerancePercent: 1 } as const;
  return verifyTest01({ ...runs, ...type, accuracy, scorer: SCORER });
}

/** A description in which everything is filled in. */
export function sceneSystem(systemType: 'datacenter' | 'edge'): Record<string, string> {
  const fields = [...SYSTEM_FIELDS, ...NETWORK_FIELDS].map(({ key }) => [key, 'N/A'] as const);
  return {
    ...Object.fromEntries(fields),
    division: 'network',
    submitter: 'ACME',
    status: 'available',
    system_name: 'two nodes of the test',
    system_type: systemType,
    number_of_nodes: '1',
    host_processors_per_node: '2',
    host_processor_model_name: 'A processor of the test',
    accelerators_per_node: '0',
    host_memory_configuration: '8 x 32 GB DDR5, ECC enabled',
    framework: 'ONNX Runtime 1.30.0',
    operating_system: 'Debian 12',
    is_network: 'True',
    network_type: 'Ethernet',
    network_media: 'Copper',
    network_rate: '25G',
    nic_loadgen: 'NVIDIA CX6',
    number_nic_loadgen: '1',
    net_software_stack_loadgen: 'Linux kernel TCP stack 6.1',
    network_protocol: 'TCP/IPv4 over Ethernet',
    number_connections: '2',
    nic_sut: 'NVIDIA CX6',
    number_nic_sut: '1',
    net_software_stack_sut: 'Linux kernel TCP stack 6.1',
    network_topology: 'LoadGen system connected to the SUT through a switch',
  };
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
      model: 'resnet50',
      scenario,
      performance: `runs/${scenario}/performance`,
      accuracy: `runs/${scenario}/accuracy`,
      compliance: `runs/${scenario}/compliance`,
    })),
  };
}
