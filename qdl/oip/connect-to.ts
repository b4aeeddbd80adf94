import type { DispatchSettings } from '../dispatch-settings.ts';
import type { OpenConnection } from './channel/oip-connections.ts';
import { connectGrpc } from './http2/open-connection.ts';

/** Connections for requests. */
export function connectTo(settings: DispatchSettings): OpenConnection {
  return (address, events) => connectGrpc(address, settings, events);
}
