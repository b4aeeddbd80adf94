import type { ResponseSink } from '../../../shared/domain/system-under-test.ts';
import type { SimulatedClock } from '../clock.ts';
import { type IssuedSample, indexBytes, type SutOptions } from './simulated-sut.ts';

/** A thread that sleeps takes longer than it is told to. */
const WAKE_UP_NS = 100_000;

/**
 * The SUT of the harness that made the golden logs, by the words of its command line: how long it
 * takes, what it answers, and the fault that it plays at one sample.
 */
export function harnessSut(
  args: Readonly<Record<string, string>>,
  name = 'Network_SUT_harness',
): SutOptions {
  const number = (key: string, fallback: number): number => Number(args[key] ?? fallback);
  const tokensOf = (index: number): number =>
    number('ntok_base', 0) + (index % number('ntok_mod', 1));
  const faultOf = ({ responseId }: IssuedSample): string =>
    responseId === number('fault_seq', -1) ? (args['fault'] ?? '') : '';
  const blocks = args['sut'] === 'block';
  let issueCount = 0;

  function complete(samples: readonly IssuedSample[], sink: ResponseSink, atNs: number): void {
    for (const sample of samples) {
      const { responseId, index } = sample;
      const fault = faultOf(sample);
      const tokenCount = { zerotok: 0, onetok: 1, negtok: -1 }[fault] ?? tokensOf(index);
      const ids: Record<string, readonly number[]> = {
        dup: [responseId, responseId],
        dup2: [responseId, responseId],
        // Before the response, since the next query may go out inside the call.
        extra_unissued: [responseId + 1, responseId],
      };
      for (const id of ids[fault] ?? [responseId]) {
        sink.complete(id, payloadOf(args['data'], index), tokenCount, atNs);
      }
    }
  }

  function serviceNs({ responseId }: IssuedSample): number {
    const every = number('slow_every', Number.POSITIVE_INFINITY);
    const isSlow = responseId % every === every - 1;
    return args['sut'] === 'null' ? 0 : number(isSlow ? 'slow_ns' : 'delay_ns', 0);
  }

  function answer(
    samples: readonly IssuedSample[],
    sink: ResponseSink,
    clock: SimulatedClock,
  ): void {
    const timeNs = Math.max(...samples.map(serviceNs));
    const blocksLoadgen = blocks && args['scenario'] === 'Server';
    if (blocksLoadgen) clock.spend(timeNs);
    if (timeNs === 0 || blocksLoadgen) complete(samples, sink, clock.nowNs());
    else {
      const atNs = clock.nowNs() + timeNs + (blocks ? WAKE_UP_NS : 0);
      clock.callAt(atNs, () => complete(samples, sink, clock.nowNs()));
    }
  }

  function answerInTokens(sample: IssuedSample, sink: ResponseSink, clock: SimulatedClock): void {
    const { responseId, index } = sample;
    const firstAtNs = clock.nowNs() + number('ttft_ns', 0);
    const firstCount = { nofirst: 0, dupfirst: 2 }[faultOf(sample)] ?? 1;
    clock.callAt(firstAtNs, () => {
      const token = indexBytes(index + 1000).subarray(0, 4);
      for (let i = 0; i < firstCount; i += 1) sink.firstToken(responseId, token, clock.nowNs());
    });
    const restNs = number('tpot_ns', 0) * (tokensOf(index) - 1);
    clock.callAt(firstAtNs + restNs, () => complete([sample], sink, clock.nowNs()));
  }

  return {
    names: [name],
    serve: (samples, sink, clock) => {
      issueCount += 1;
      const every = number('issue_block_every', 0);
      if (every > 0 && issueCount % every === 0) clock.spend(number('issue_block_ns', 0));
      if (args['tokens'] === '1') for (const one of samples) answerInTokens(one, sink, clock);
      else if (args['per_sample'] === '1') for (const one of samples) answer([one], sink, clock);
      else answer(samples, sink, clock);
    },
  };
}

/** @param form `idx8`, `none`, or a count of bytes. */
function payloadOf(form = 'idx8', index: number): Uint8Array {
  if (form === 'none') return new Uint8Array(0);
  if (form === 'idx8') return indexBytes(index);
  return Uint8Array.from({ length: Number(form) }, (_, i) => index * 31 + 7 * i);
}
