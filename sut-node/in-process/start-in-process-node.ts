import type { BuildProgress } from '../../shared/base/cache/artifact-cache.ts';
import { timerClock } from '../../shared/base/clock/timer-clock.ts';
import { configInvalid, MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { createLogger } from '../../shared/base/process/logger.ts';
import { resolveSettings, type SettingSources } from '../../shared/config/resolve-settings.ts';
import type { InProcessModel, InProcessNode } from '../../shared/domain/in-process-node.ts';
import type { SamplePayloads } from '../../shared/domain/query-sample-library.ts';
import type { SystemUnderTest } from '../../shared/domain/system-under-test.ts';
import { FAILURE_CODES } from '../../shared/wire/responses-codec.ts';
import { batchPolicy } from '../inference/batcher/batch-policy.ts';
import { DynamicBatcher } from '../inference/batcher/dynamic-batcher.ts';
import type { SutModel } from '../inference/batcher/sut-model.ts';
import { createModel } from '../inference/create-model.ts';
import { failSamples } from '../inference/workers/batch-answers.ts';
import type { LoadedModel } from '../model/model-facts.ts';
import { disableTelemetry } from '../model/onnx/onnxruntime.ts';
import { endDespiteThreads } from '../model/onnx/running-threads.ts';
import { Patience } from '../operations/patience.ts';
import { configurationName } from '../server/describe/configuration-name.ts';
import { nodeOffer, payloadContext, readBy } from '../server/describe/node-offer.ts';
import { SUT_OPTIONS, type SutSettings, toSutSettings } from '../settings/sut-settings.ts';
import { InProcessRun } from './in-process-run.ts';

/**
 * Loads a model into this process, as a SUT node with these settings would, and starts its workers. Settings of the
 * network (address, queue bytes, TLS) have no effect; responses are never compressed, since none travels.
 * @throws MlperfError `ERR_CONFIG_INVALID`, `ERR_MODEL`, `ERR_CACHE`, `ERR_SUT_WORKER`, `ERR_NOT_INSTALLED`,
 *   `ERR_BENCHMARK_UNKNOWN`
 */
export async function startInProcessNode(
  sources: Omit<SettingSources, 'section'>,
  onProgress: BuildProgress,
): Promise<InProcessNode> {
  const { values } = resolveSettings(SUT_OPTIONS, { section: 'sut', ...sources });
  const asked = toSutSettings(values);
  const settings: SutSettings = { ...asked, responseCompression: 'identity' };
  disableTelemetry();
  endDespiteThreads();
  const model = await createModel(
    settings,
    createLogger('longhaul-in-process', values.logLevel),
    {},
  );
  const node = new LoadedNode(asked, settings, model);
  try {
    await node.load(onProgress);
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

/** Composition root: joins batcher and model, as a SUT node does, and leaves out its server. */
class LoadedNode implements InProcessNode {
  readonly #asked: SutSettings;
  readonly #settings: SutSettings;
  readonly #model: SutModel;
  readonly #batcher: DynamicBatcher;
  #loaded: LoadedModel | undefined;
  #run: InProcessRun | undefined;
  #failure: MlperfError | undefined;

  /** @param asked As a SUT node would have them: they name the configuration. */
  constructor(asked: SutSettings, settings: SutSettings, model: SutModel) {
    this.#asked = asked;
    this.#settings = settings;
    this.#model = model;
    this.#batcher = new DynamicBatcher({
      policy: batchPolicy(settings),
      queueSamplesMax: settings.queueSamplesMax,
      clock: timerClock,
      workers: model,
    });
  }

  get name(): string {
    return `in-process SUT (no network): ${this.#model.name}`;
  }

  get benchmark(): string {
    return this.#model.rules.key;
  }

  get model(): InProcessModel {
    const { sha256, isStandIn } = this.#loadedModel;
    return { name: this.#model.name, sha256, isStandIn };
  }

  get configuration(): string {
    const offer = nodeOffer(this.#asked, this.#model);
    return configurationName({ settings: this.#asked, offer }, this.#loadedModel);
  }

  get workerCount(): number | undefined {
    return this.#model.workerCounts?.count;
  }

  async load(onProgress: BuildProgress): Promise<void> {
    const settings = this.#settings;
    this.#loaded = await this.#model.load({
      ...payloadContext(settings, this.#model),
      onProgress,
      onRoom: () => this.#batcher.dispatch(),
      onFatal: (error) => this.#fail(error),
    });
    this.#batcher.fitTo(batchPolicy(settings, this.#loaded));
    onProgress(0, `warming up ${this.#model.name}`);
    await this.#model.warmUp();
    onProgress(1, 'ready');
  }

  openRun(payloads: SamplePayloads): SystemUnderTest {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#run !== undefined) {
      throw new MlperfError(
        'ERR_INTERNAL',
        'a run in process began before the last one was stopped',
      );
    }
    const run = new InProcessRun({
      name: this.name,
      batcher: this.#batcher,
      payloads,
      form: this.#formOf(payloads),
      samplesMax: this.#settings.queueSamplesMax,
      onStopped: () => {
        this.#run = undefined;
      },
    });
    this.#run = run;
    return run;
  }

  async stop(): Promise<void> {
    await this.#model.stop(new Patience().withWorkers());
  }

  get #loadedModel(): LoadedModel {
    if (this.#loaded === undefined) throw new MlperfError('ERR_INTERNAL', 'no model is loaded yet');
    return this.#loaded;
  }

  #formOf({ encoding }: SamplePayloads): number {
    const { encodings } = nodeOffer(this.#settings, this.#model);
    const isRead = readBy(this.#loadedModel);
    const form = encodings.findIndex(
      (one) =>
        isRead(one) && one.form === encoding.form && one.compression === encoding.compression,
    );
    if (form >= 0) return form;
    const read = encodings.filter(isRead).map((one) => `${one.form}/${one.compression}`);
    throw configInvalid(
      `the samples are ${encoding.form}/${encoding.compression}; model ${this.#model.name} reads ${read.join(', ')}`,
    );
  }

  #fail(error: MlperfError): void {
    this.#failure = error;
    const text = `the model in process has failed: ${error.message}`;
    failSamples(this.#batcher.removeAll(), { code: FAILURE_CODES.inference, text });
    this.#run?.fault(error);
  }
}
