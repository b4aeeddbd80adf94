import { statusText } from './failure-words.ts';
import type { OipRequestWay, RequestWayEvents } from './request-way.ts';
import type { Gathered, PendingRequest } from './response-gatherer.ts';

/** What came of several requests at once: how long until all were answered, or why they were not. */
export type BurstOutcome =
  | {
      readonly ms: number;
      /** True: something came of a later request only when the earlier ones had their answers. */
      readonly isInTurn: boolean;
    }
  | { readonly failure: string };

/** Requests at once, and again, over one way: untimed, before a run. */
export class RequestBursts implements RequestWayEvents {
  readonly #way: OipRequestWay;
  readonly #sendRequest: (way: OipRequestWay, id: number) => void;
  #burst: Burst | undefined;
  #nextId = 0;

  /**
   * @param openWay Makes the way, which reports here.
   * @param sendRequest Sends a request whose id is this one.
   */
  constructor(
    openWay: (events: RequestWayEvents) => OipRequestWay,
    sendRequest: (way: OipRequestWay, id: number) => void,
  ) {
    this.#way = openWay(this);
    this.#sendRequest = sendRequest;
  }

  /** One burst at a time. @param idStep Ids that a request takes. */
  run(count: number, idStep: number, timeoutMs: number): Promise<BurstOutcome> {
    return new Promise((resolve) => {
      const end = (outcome: BurstOutcome): void => {
        clearTimeout(timer);
        this.#burst = undefined;
        resolve(outcome);
      };
      const failure = `${count} requests at once were not answered within ${timeoutMs} ms`;
      const timer = setTimeout(() => end({ failure }), timeoutMs);
      const begin = performance.now();
      this.#burst = { count, idStep, begin, end, sentCount: 0, open: new Set(), isInTurn: true };
      this.onRoom();
    });
  }

  onRoom(): void {
    const burst = this.#burst;
    if (burst === undefined) return;
    while (burst.sentCount < burst.count && this.#way.hasRoom && this.#way.takesRequest) {
      const id = this.#nextId;
      this.#nextId += burst.idStep;
      burst.sentCount += 1;
      burst.open.add(id);
      this.#sendRequest(this.#way, id);
    }
  }

  onGathered({ ids: [id = Number.NaN] }: PendingRequest, gathered: Gathered): void {
    const burst = this.#burst;
    if (burst === undefined) return;
    if (gathered.kind === 'failed') {
      burst.end({ failure: gathered.text });
      return;
    }
    const [oldest] = burst.open;
    if (oldest !== id) burst.isInTurn = false;
    if (gathered.kind === 'more') return;
    burst.open.delete(id);
    if (burst.open.size > 0 || burst.sentCount < burst.count) {
      this.onRoom();
      return;
    }
    burst.end({ ms: performance.now() - burst.begin, isInTurn: burst.isInTurn });
  }

  /** Calls that are lost with the connection say so themselves. */
  onConnectionClosed(): void {}

  onUnavailable(_request: PendingRequest | undefined, details: string): void {
    this.#burst?.end({ failure: details });
  }

  onUnasked(): void {
    this.#burst?.end({ failure: 'the response has the id of another request, or none' });
  }

  onStreamEnd(code: number, details: string): void {
    this.#burst?.end({ failure: `the server ended the stream: ${statusText(code, details)}` });
  }
}

/** A burst that is under way. */
interface Burst {
  readonly count: number;
  readonly idStep: number;
  readonly begin: number;
  readonly end: (outcome: BurstOutcome) => void;
  sentCount: number;
  /** Ids of requests without their last response, the oldest first. */
  readonly open: Set<number>;
  isInTurn: boolean;
}
