import type { ToLiveThread } from '../live-messages.ts';
import type { WholeState } from '../live-state.ts';

/** How it stands with the connection. */
export type FeedConnection = 'connecting' | 'open' | 'lost' | 'over';

/** Whom the feed tells. */
export interface FeedListener {
  /** All that there is: at the beginning, and whenever a connection was lost. */
  whole(state: WholeState): void;
  change(message: ToLiveThread): void;
  connection(state: FeedConnection): void;
}

/** A browser gives up by itself where it is refused. */
const AGAIN_MS = 3_000;

/** Listens until the command says good-bye; comes back by itself when a connection is lost. */
export function listen(listener: FeedListener): void {
  const source = new EventSource('events');
  const parsed = (event: Event): unknown => JSON.parse((event as MessageEvent<string>).data);
  source.addEventListener('open', () => listener.connection('open'));
  source.addEventListener('state', (event) => listener.whole(parsed(event) as WholeState));
  source.addEventListener('change', (event) => listener.change(parsed(event) as ToLiveThread));
  source.addEventListener('bye', () => {
    source.close();
    listener.connection('over');
  });
  source.addEventListener('error', () => {
    listener.connection('lost');
    if (source.readyState !== EventSource.CLOSED) return;
    source.close();
    setTimeout(() => listen(listener), AGAIN_MS);
  });
}
