import type { Clock } from '../../../shared/base/clock.ts';
import { machineNowNs } from '../../../shared/base/clock.ts';
import { silentLogger } from '../../../shared/base/process/logger.ts';
import { resolveSettings } from '../../../shared/config/resolve-settings.ts';
import { DelayModel, tokenAnswers } from '../../../sut-node/inference/built-in/delay-model.ts';
import { SUT_OPTIONS, toSutSettings } from '../../../sut-node/settings/sut-settings.ts';
import { startSutNode } from '../../../sut-node/sut-node.ts';
import type { StreamsNodeJob } from './streams-bench.ts';

// Goal: a SUT node whose CPU time is that of tokens. Method: the benchmark delay with a clock that
// ticks and sleeps between: what is due in a tick goes out together, as the tokens of a step of a
// model do. Started by streams-bench.ts.

const { tickMs, count, firstTokenNs, tokenNs } = JSON.parse(
  process.argv[2] as string,
) as StreamsNodeJob;

const tickingClock: Clock = {
  nowNs: machineNowNs,
  callAt: (atNs, callback) => {
    const tickNs = tickMs * 1e6;
    const dueNs = Math.ceil(atNs / tickNs) * tickNs;
    const call = (): void => {
      if (machineNowNs() >= dueNs) callback();
      else timer = setTimeout(call, 1);
    };
    let timer = setTimeout(call, Math.max(1, (dueNs - machineNowNs()) / 1e6));
    return { cancel: () => clearTimeout(timer) };
  },
};

const counts = { kind: 'fixed', count } as const;
const model = new DelayModel({
  clock: tickingClock,
  concurrency: 65_536,
  answers: () => tokenAnswers({ counts, seed: 0, firstTokenNs, tokenNs, type: 'int32' }),
});
const flags = { benchmark: 'delay', listen: '127.0.0.1:0', queueSamplesMax: '65536' };
const { values } = resolveSettings(SUT_OPTIONS, { section: 'sut', file: undefined, flags });
const hooks = { onProgress: () => {}, logger: silentLogger };
const node = await startSutNode(toSutSettings(values), hooks, { model });
process.once('SIGTERM', () => {
  void node.stop().then(() => process.exit());
});
process.send?.({ address: node.address });
