import type { ConfigEvent } from '../settings/config-event.ts';
import type { DetailLog } from './detail-log.ts';

/** Writes what reading the configuration files of one stage left to say. */
export function writeConfigEvents(
  log: DetailLog,
  events: readonly ConfigEvent[] | undefined,
  stage: ConfigEvent['stage'],
): void {
  for (const event of events ?? []) {
    if (event.stage !== stage) continue;
    if (event.kind === 'error') log.error(event.key, event.text);
    else log.warning(event.text);
  }
}
