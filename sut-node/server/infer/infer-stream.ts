import assert from 'node:assert';
import type { Open__Output } from '../../../proto/gen/mlperf/network/v1/Open.ts';
import type { PlannedCall } from '../../../shared/base/clock.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { decodePart, isPart } from '../../../shared/wire/part-codec.ts';
import { FAILURE_CODES } from '../../../shared/wire/responses-codec.ts';
import {
  encodeSutMessage,
  TOKEN_STREAM_FEATURE,
  USAGE_FEATURE,
  WARM_UP_FEATURE,
} from '../../../shared/wire/sut-contract.ts';
import type {
  SampleAnswer,
  SampleOwner,
  SampleTokens,
  WaitingSample,
} from '../../inference/batcher/sut-model.ts';
import type { MessageMemory } from '../connection/message-memory.ts';
import type { StreamHandler } from '../connection/stream-call.ts';
import { agreedFeatures } from '../describe/node-offer.ts';
import type { StreamCredit } from '../ledger/credit-book.ts';
import type { RunLedger } from '../ledger/run-ledger.ts';
import {
  invalidArgument,
  resourceExhausted,
  type ServerCallEnd,
  STREAM_OK,
  StreamRefusal,
  unavailable,
} from '../limits/call-end.ts';
import { headBytesMax } from '../limits/node-limits.ts';
import type { InferPeer, InferServices, StreamBatcher, StreamEnding } from './infer-services.ts';
import { type Agreement, decodeControl, negotiateOpen } from './open-negotiation.ts';
import { OutgoingResponses } from './outgoing-responses.ts';
import { writeResponses } from './response-writer.ts';
import {
  newSampleCount,
  payloadBytes,
  SampleIntake,
  samplesOf,
  type WholeSample,
} from './sample-intake.ts';

/** Silence after which a draining stream ends: parts in flight before it are still answered. */
const DRAIN_LULL_NS = 200_000_000;

/** State of a stream from Open on. */
interface OpenedRun {
  readonly agreement: Agreement;
  /** True if LoadGen measures first tokens. */
  readonly takesFirstTokens: boolean;
  /** True if it requested all tokens as they are generated. */
  readonly takesTokens: boolean;
  readonly ledger: RunLedger;
  readonly credit: StreamCredit;
  readonly intake: SampleIntake;
}

/**
 * One Infer stream. Knows only {@link InferPeer} of gRPC.
 *
 *   opening ──Open──► open ──Close or half-close──► closing ──all answered──► ended (OK)
 *      │               │ drain(): answers what it has, fails what comes, ends when it is quiet
 *      └───────────────┴── message that breaks the protocol, abort() ──────► ended (that status)
 *                          peer gone ──────────────────────────────────────► ended (no status)
 *
 * Answers and tokens that gRPC cannot take now wait in `#unsent`, in their order. That is bounded
 * by credit, which comes back only when an answer was handed over.
 */
export class InferStream implements SampleOwner, StreamHandler {
  readonly #services: InferServices;
  #batcher: StreamBatcher;
  #observe: InferServices['observe'];
  readonly #peer: InferPeer;
  readonly #onEnded: (stream: InferStream, ending: StreamEnding) => void;
  readonly #onOpened: (open: Open__Output) => void;
  #phase: 'opening' | 'open' | 'closing' | 'ended' = 'opening';
  #run: OpenedRun | undefined;
  /** Accepted samples whose answer was not sent yet. */
  #owedCount = 0;
  readonly #unsent = new OutgoingResponses();
  #isBlocked = false;
  #drainReason: string | undefined;
  #lull: PlannedCall | undefined;
  #endUsage: (() => void) | undefined;

  constructor(
    services: InferServices,
    peer: InferPeer,
    onEnded: (stream: InferStream, ending: StreamEnding) => void,
    onOpened: (open: Open__Output) => void = () => {},
  ) {
    this.#services = services;
    this.#batcher = services.batcher;
    this.#observe = services.observe;
    this.#peer = peer;
    this.#onEnded = onEnded;
    this.#onOpened = onOpened;
  }

  /** A message arrived. Never throws, whatever the bytes. */
  message(message: Buffer, memory?: MessageMemory): void {
    if (this.#phase !== 'ended') this.#take(message, memory);
    memory?.release();
    // After the release: a sample alone in its message takes the memory along to its worker.
    this.#batcher.dispatch();
  }

  #take(message: Buffer, memory: MessageMemory | undefined): void {
    const arrivedAtNs = this.#services.clock.nowNs();
    try {
      if (isPart(message)) this.#takePart(message, arrivedAtNs, memory);
      else this.#takeControl(message);
    } catch (error) {
      if (error instanceof StreamRefusal) this.#end(error.end);
      else if (error instanceof MlperfError) this.#end(invalidArgument(error.message).end);
      else throw error;
    }
  }

  /** The peer ended its side; this also serves as a missing Close. */
  halfClosed(): void {
    if (this.#phase === 'opening')
      this.#end(invalidArgument('the stream was closed before Open').end);
    else if (this.#phase === 'open') this.#close();
  }

  /** The peer is lost: its requests are dropped. */
  cancelled(): void {
    this.#end(undefined);
  }

  /** gRPC takes messages again. */
  drained(): void {
    this.#isBlocked = false;
    this.#unsent.release();
    this.#flush();
  }

  answer(answers: readonly SampleAnswer[]): void {
    if (this.#phase === 'ended') return;
    this.#unsent.addAnswers(answers);
    this.#flush();
  }

  firstTokens(tokens: readonly SampleTokens[]): void {
    if (this.#phase === 'ended' || this.#run?.takesFirstTokens !== true) return;
    this.#unsent.addFirstTokens(tokens);
    this.#flush();
  }

  get takesTokens(): boolean {
    return this.#phase !== 'ended' && this.#run?.takesTokens === true;
  }

  tokens(tokens: readonly SampleTokens[]): void {
    if (!this.takesTokens) return;
    this.#unsent[this.#isBlocked ? 'holdTokens' : 'addTokens'](tokens);
    this.#flush();
  }

  /** Takes no more samples, answers the accepted ones, then ends. */
  drain(reason: string): void {
    if (this.#phase === 'ended' || this.#drainReason !== undefined) return;
    if (this.#phase === 'opening') {
      this.abort(reason);
      return;
    }
    this.#drainReason = reason;
    this.#write(encodeSutMessage({ draining: { reason } }));
    this.#endIfDone();
  }

  /** Ends the stream: the peer's bytes are no longer valid messages. */
  breakOff(end: ServerCallEnd): void {
    this.#end(end);
  }

  /** Ends the stream now, whatever is outstanding. */
  abort(reason: string): void {
    this.#end(unavailable(reason).end);
  }

  #takeControl(bytes: Buffer): void {
    const message = decodeControl(bytes);
    if (this.#phase === 'opening') {
      if (!message.open) throw invalidArgument('the first message of a stream must be Open');
      this.#open(message.open);
    } else if (message.close && this.#phase === 'open') {
      this.#close();
    } else {
      throw invalidArgument(`message "${message.message ?? 'none'}" is not expected now`);
    }
  }

  #open(open: Open__Output): void {
    const services = this.#services;
    const agreement = negotiateOpen(open, services.offer, services.isRead);
    const isWarmUp = open.features.includes(WARM_UP_FEATURE);
    if (!isWarmUp) services.ledgers.check(open);
    const credit = services.credits.open(() => this.#tellCredit());
    if (credit === undefined)
      throw resourceExhausted('the node has reached its limit of open streams');
    const ledger = services.ledgers[isWarmUp ? 'apart' : 'open'](agreement.runId);
    const digested = isWarmUp ? 0 : open.digestPerMillion;
    ledger.openStream(digested, open.streamIndex, this.#peer.seen?.peerAddress);
    if (isWarmUp) {
      this.#batcher = services.warmUpBatcher;
      this.#observe = undefined;
    }
    const intake = new SampleIntake(services.limits, agreement, ledger);
    const features = agreedFeatures(open);
    const takesFirstTokens = open.tokenLatencies;
    const takesTokens = features.includes(TOKEN_STREAM_FEATURE);
    this.#run = { agreement, takesFirstTokens, takesTokens, ledger, credit, intake };
    this.#phase = 'open';
    this.#onOpened(open);
    this.#write(
      encodeSutMessage({
        opened: {
          protocolVersion: open.protocolVersion,
          nodeName: services.name,
          nodeIdentity: services.identity,
          model: services.offer.model,
          encodings: [...agreement.encodings],
          responseEncodings: [agreement.responseEncoding],
          features,
          limits: services.wireLimits(),
          credit: { samples: credit.grantedSamples, bytes: credit.grantedBytes },
          seen: this.#peer.seen,
        },
      }),
    );
    credit.grow();
    if (!open.features.includes(USAGE_FEATURE)) return;
    this.#endUsage = services.usage.listen((message) => {
      // A full or ending stream has more important messages.
      if (this.#phase === 'open' && !this.#isBlocked) this.#write(message);
    });
  }

  #takePart(bytes: Buffer, arrivedAtNs: number, memory: MessageMemory | undefined): void {
    const run = this.#run;
    if (run === undefined) throw invalidArgument('the first message of a stream must be Open');
    if (this.#phase !== 'open') throw invalidArgument('a part came after Close');
    const { limits } = this.#services;
    // One sample may be a continuation that was counted before.
    const samplesMax = run.credit.freeSamples + 1;
    if (bytes.length > limits.partBytesMax + headBytesMax(samplesMax)) {
      throw resourceExhausted(
        `a part of ${bytes.length} bytes; limit part_bytes_max is ${limits.partBytesMax}`,
      );
    }
    const part = decodePart(bytes, samplesMax);
    const samples = samplesOf(part, limits);
    const payload = payloadBytes(part);
    const newSamples = newSampleCount(samples);
    if (!run.credit.take(newSamples, payload)) {
      throw resourceExhausted(
        `more was sent than the granted credit of ${run.credit.grantedSamples} samples and ` +
          `${run.credit.grantedBytes} bytes in all`,
      );
    }
    if (bytes.length > payload + headBytesMax(samples.length)) {
      // Credit counts payload; other bytes would be kept uncounted.
      throw invalidArgument(`${bytes.length - payload} bytes of a part are not payload`);
    }
    const { query, querySampleCount, queryPayload } = part;
    run.ledger.countPart({ query, querySampleCount, newSamples }, payload);
    for (const sample of samples) {
      const whole = run.intake.take(sample);
      if (whole === undefined) {
        // Its pieces stay with the sample: this memory is not reused.
        memory?.hold();
        continue;
      }
      if (queryPayload === undefined) run.ledger.digestPayload(whole.id, whole.pieces, whole.bytes);
      this.#accept(run, whole, arrivedAtNs, memory);
    }
    if (queryPayload !== undefined) {
      run.ledger.digestPayload(samples[0]?.id ?? 0, [queryPayload], queryPayload.length);
    }
  }

  /** A sample is complete: it will get an answer in any case. */
  #accept(
    run: OpenedRun,
    whole: WholeSample,
    arrivedAtNs: number,
    memory: MessageMemory | undefined,
  ): void {
    memory?.hold();
    const { clock, limits, offer } = this.#services;
    run.ledger.sampleCount += 1;
    run.ledger.addEncoding(whole.form, offer.encodings[whole.form]);
    run.credit.begin();
    this.#owedCount += 1;
    const sample: WaitingSample = {
      id: whole.id,
      pieces: whole.pieces,
      bytes: whole.bytes,
      form: whole.form,
      slice: whole.slice,
      owner: this,
      memory,
      arrivedAtNs,
      queuedAtNs: clock.nowNs(),
    };
    if (this.#drainReason !== undefined) {
      this.#refuse(sample, FAILURE_CODES.draining, this.#drainReason);
    } else if (whole.bytes > limits.sampleBytesMax) {
      const text = `the sample has ${whole.bytes} bytes; limit sample_bytes_max is ${limits.sampleBytesMax}`;
      this.#refuse(sample, FAILURE_CODES.limit, text);
    } else {
      assert(this.#batcher.add(sample), 'credit must keep the queue from overflowing');
    }
  }

  #refuse(sample: WaitingSample, code: number, text: string): void {
    this.answer([{ sample, payload: new Uint8Array(0), fault: { code, text }, times: undefined }]);
  }

  #close(): void {
    const unfinished = this.#run?.intake.unfinishedId;
    if (unfinished !== undefined) {
      this.#end(
        invalidArgument(`the stream was closed between the pieces of sample ${unfinished}`).end,
      );
      return;
    }
    this.#phase = 'closing';
    this.#endIfDone();
  }

  #flush(): void {
    const run = this.#run;
    while (run !== undefined && !this.#isBlocked && this.#phase !== 'ended') {
      const known = this.#unsent.next();
      if (known === undefined) break;
      const written = writeResponses(known, {
        clock: this.#services.clock,
        responseEncoding: run.agreement.responseEncoding,
        messageBytesMax: this.#services.limits.messageBytesMax,
        observe: this.#observe,
      });
      this.#write(written.message);
      const answerCount = known.answers.length;
      if (answerCount === 0) continue;
      run.ledger.completedCount += written.completedCount;
      run.ledger.countFailures(written.failureCodes);
      run.ledger.responseBytes += written.responseBytes;
      this.#owedCount -= answerCount;
      for (const { sample } of known.answers) sample.memory?.release();
      run.credit.finish(answerCount, written.sampleBytes);
    }
    this.#endIfDone();
  }

  #write(message: Buffer): void {
    // A control message is sent even if gRPC's buffer is full: they are few.
    if (!this.#peer.write(message)) this.#isBlocked = true;
  }

  #tellCredit(): void {
    const credit = this.#run?.credit;
    if (credit === undefined || this.#phase !== 'open') return;
    const { grantedSamples, grantedBytes } = credit;
    this.#write(encodeSutMessage({ credit: { samples: grantedSamples, bytes: grantedBytes } }));
  }

  #endIfDone(): void {
    if (this.#owedCount > 0) return;
    if (this.#phase === 'closing') {
      this.#end(STREAM_OK);
    } else if (this.#phase === 'open' && this.#drainReason !== undefined) {
      const { clock } = this.#services;
      this.#lull?.cancel();
      this.#lull = clock.callAt(clock.nowNs() + DRAIN_LULL_NS, () => {
        if (this.#owedCount === 0) this.abort(this.#drainReason ?? '');
      });
    }
  }

  /** Ends the stream, once. Its remaining samples are dropped and counted. */
  #end(end: ServerCallEnd | undefined): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#lull?.cancel();
    this.#endUsage?.();
    this.#unsent.clear();
    const run = this.#run;
    if (run !== undefined) {
      run.ledger.droppedCount += this.#owedCount;
      this.#batcher.removeOwner(this);
      run.credit.close();
      run.ledger.closeStream();
    }
    if (end !== undefined) this.#peer.end(end);
    this.#onEnded(this, {
      ledger: run?.ledger,
      droppedCount: this.#owedCount,
      reason: end?.details ?? 'the peer is gone',
    });
  }
}
