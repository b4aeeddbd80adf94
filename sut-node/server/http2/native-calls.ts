import type { IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import type { HeaderField } from '../../../shared/http2/hpack.ts';
import { INFER_METHOD, LINK_TEST_METHOD } from '../../../shared/wire/sut-contract.ts';
import { MessagePool } from '../connection/message-memory.ts';
import type { StreamOpeners } from '../connection/stream-call.ts';
import { type CallRefusal, type GateRules, judgeCall } from '../guard/call-gate.ts';
import { callerIn, seenCall } from '../guard/call-seen.ts';
import type { ServerCall } from './server-call.ts';
import type { CallDecision, CallService, MakeCall } from './server-connection.ts';

/** Infer and TestLink, by the rules that the gate has for the same calls through grpc-js. */
export class NativeCalls implements CallService {
  readonly pool: MessagePool = new MessagePool();
  readonly windowBytes: number;
  readonly #rules: GateRules;
  readonly #openers: ReadonlyMap<string, StreamOpeners[keyof StreamOpeners]>;

  constructor(rules: GateRules, openers: StreamOpeners, windowBytes: number) {
    this.#rules = rules;
    this.windowBytes = windowBytes;
    this.#openers = new Map([
      [INFER_METHOD.path, openers.infer],
      [LINK_TEST_METHOD.path, openers.testLink],
    ]);
  }

  isOwn(path: string): boolean {
    return this.#openers.has(path);
  }

  onRefused(reason: CallRefusal): void {
    this.#rules.onRefused(reason);
  }

  open(fields: readonly HeaderField[], socket: Socket, make: MakeCall): CallDecision {
    const headers: IncomingHttpHeaders = {};
    for (const { name, value } of fields) {
      const before = headers[name];
      // Joined as in node:http2 for a repeated header.
      headers[name] = before === undefined ? value : `${before}, ${value}`;
    }
    const open = this.#openers.get(headers[':path'] ?? '');
    if (open === undefined) return 'elsewhere';
    const rawHeaders = fields.flatMap(({ name, value }) => [name, value]);
    const { rule, isKnown, refusal } = judgeCall({ headers, rawHeaders }, this.#rules);
    if (refusal !== undefined) return { end: refusal, httpStatus: refusal.httpStatus };
    const call = make(rule);
    this.#watch(call, isKnown, socket);
    const seen = seenCall(headers, socket);
    const opened = open(
      {
        seen,
        write: (message) => call.write(message),
        end: (end) => call.end(end),
      },
      callerIn(seen),
    );
    if (opened !== undefined) call.serve(opened.handler, opened.receiveBytesMax);
    return { call };
  }

  /** Counts the call, and ends it if its first message, or its end, takes too long. */
  #watch(call: ServerCall, isKnown: boolean, socket: Socket): void {
    const { guard, openCalls, firstMessageMs } = this.#rules;
    const { rule } = call;
    const { callsMax, lifeMsMax } = rule;
    if (callsMax !== undefined) openCalls.set(rule, (openCalls.get(rule) ?? 0) + 1);
    if (!isKnown) guard.touch(socket);
    const endCall = isKnown ? guard.beginCall(socket) : () => {};
    const endAfter = (ms: number): NodeJS.Timeout => setTimeout(() => call.endLate(), ms).unref();
    let timer = endAfter(firstMessageMs);
    call.onFirst = () => {
      clearTimeout(timer);
      if (lifeMsMax !== undefined) timer = endAfter(lifeMsMax);
    };
    call.onOver = () => {
      clearTimeout(timer);
      endCall();
      if (callsMax !== undefined) openCalls.set(rule, (openCalls.get(rule) ?? 1) - 1);
    };
  }
}
