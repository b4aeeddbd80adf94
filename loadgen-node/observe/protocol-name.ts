import { z } from 'zod';
import { knownProtocols } from '../../qdl/protocols/index.ts';

const names = (): string[] => knownProtocols().map(({ name }) => name);

/** Name of a protocol in files; valid if it is in the list of protocols at reading time. */
export const PROTOCOL_NAME = z
  .string()
  .refine((name) => names().includes(name), {
    error: ({ input }) =>
      `is ${JSON.stringify(input)}, a protocol that was not added here (known: ${names().join(', ')}): set NODE_OPTIONS='--import FILE', FILE being the module that adds it`,
  })
  .meta({ enum: names() });
