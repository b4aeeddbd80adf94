import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import { timerClock } from '../../../shared/base/clock/timer-clock.ts';
import { type MessagePieces, receiveInPieces } from '../connection/message-pieces.ts';
import type { ServerCallEnd } from '../limits/call-end.ts';
import { LinkTest } from './link-test.ts';

type LinkTestCall = ServerDuplexStream<Buffer, Buffer>;

/** Link tests of the node: one at a time (call-rules.ts), and none beside a run. */
export class LinkTests {
  readonly #name: string;
  readonly #isRunning: () => boolean;
  readonly #limits: { readonly messageBytesMax: number; readonly receiveBytesMax: number };
  readonly #tests = new Set<LinkTest>();

  /** @param isRunning Whether a stream is open now. */
  constructor(
    name: string,
    limits: { readonly messageBytesMax: number; readonly receiveBytesMax: number },
    isRunning: () => boolean,
  ) {
    this.#name = name;
    this.#limits = limits;
    this.#isRunning = isRunning;
  }

  /** Serves a call. */
  handle(call: LinkTestCall): void {
    const end = ({ code, details }: ServerCallEnd): void => {
      if (code === status.OK) call.end();
      // grpc-js ends a stream with a status by this event, behind what was written.
      else call.emit('error', { code, details });
    };
    if (this.#isRunning()) {
      const details = `SUT node ${this.#name} tests no link while a run is going on: ask again after it`;
      end({ code: status.FAILED_PRECONDITION, details });
      return;
    }
    const { messageBytesMax, receiveBytesMax } = this.#limits;
    const test = new LinkTest(
      {
        write: (message) => call.write(message),
        end: (ending) => {
          this.#tests.delete(test);
          end(ending);
        },
      },
      timerClock,
      messageBytesMax,
    );
    this.#tests.add(test);
    receiveInPieces(call, receiveBytesMax, ({ code, details }) => test.abort(code, details));
    call.on('data', (message: Buffer | MessagePieces) => test.message(message));
    call.on('end', () => test.halfClosed());
    call.on('drain', () => test.drained());
    call.on('cancelled', () => test.abort(status.CANCELLED, 'the peer has gone'));
  }

  /** Ends what goes on: a run begins, or the node stops. */
  endAll(reason: string): void {
    for (const test of this.#tests) test.abort(status.ABORTED, reason);
  }
}

/** Refuses every call, where the operator of the node does not want link tests. */
export function refuseLinkTest(name: string, call: LinkTestCall): void {
  const details = `SUT node ${name} takes no link test: it was started with --link-test refused`;
  call.emit('error', { code: status.PERMISSION_DENIED, details });
}
