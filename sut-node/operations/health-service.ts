import { type Server, type ServerWritableStream, status } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { SUT_SERVICE_NAME } from '../../shared/wire/sut-contract.ts';
import type { SideService } from '../server/connection/side-service.ts';
import { WATCH_CALLS_MAX } from '../server/limits/node-limits.ts';

/** What is asked for: the node as a whole (the empty name), or its service by name; both are one. */
const SERVICES: readonly string[] = ['', SUT_SERVICE_NAME];

type WatchCall = ServerWritableStream<{ service: string }, { status: string }>;

/**
 * `grpc.health.v1` of the node: SERVING while it is ready, NOT_SERVING in every other state.
 *
 * The package answers; here its Watch is bounded. It would remember every name that a peer ever watched, and
 * has no way to end its calls, for which a closing server would wait.
 */
export class HealthService implements SideService {
  readonly #health: HealthImplementation;
  readonly #watches = new Set<WatchCall>();
  readonly #watchCallsMax: number;
  #isServing = false;

  /** @param watchCallsMax Watch calls at once. */
  constructor(watchCallsMax: number = WATCH_CALLS_MAX) {
    this.#watchCallsMax = watchCallsMax;
    this.#health = new HealthImplementation(
      Object.fromEntries(SERVICES.map((service) => [service, 'NOT_SERVING' as const])),
    );
  }

  /** Tells those who watch, too. */
  setServing(isServing: boolean): void {
    if (isServing === this.#isServing) return;
    this.#isServing = isServing;
    for (const service of SERVICES) {
      this.#health.setStatus(service, isServing ? 'SERVING' : 'NOT_SERVING');
    }
  }

  addTo(server: Server): void {
    this.#health.addToServer({
      addService: (definition, implementation) => {
        const watch = implementation['watch'] as (call: WatchCall) => void;
        server.addService(definition, {
          ...implementation,
          watch: (call: WatchCall) => this.#watch(call, watch),
        });
      },
    });
  }

  close(reason: string): void {
    for (const call of this.#watches) end(call, status.UNAVAILABLE, reason);
    this.#watches.clear();
  }

  #watch(call: WatchCall, watch: (call: WatchCall) => void): void {
    const callsMax = this.#watchCallsMax;
    if (this.#watches.size >= callsMax) {
      end(call, status.RESOURCE_EXHAUSTED, `the node has ${callsMax} Watch calls already`);
      return;
    }
    this.#watches.add(call);
    call.on('cancelled', () => this.#watches.delete(call));
    if (SERVICES.includes(call.request.service)) watch(call);
    // No other service will ever come, so there is nothing to remember. Rule: health.proto, Watch.
    else call.write({ status: 'SERVICE_UNKNOWN' });
  }
}

/** grpc-js ends a stream with a status by this event. */
function end(call: WatchCall, code: status, details: string): void {
  call.emit('error', { code, details });
}
