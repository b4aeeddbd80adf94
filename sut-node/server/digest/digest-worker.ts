import { parentPort } from 'node:worker_threads';
import { sha256Words } from '../../../shared/evidence/payload-digest.ts';
import type { FromDigestThread, ToDigestThread } from './digest-thread.ts';

// Entry of the digest thread: a payload in, its digest out, in order.
parentPort?.on('message', (payload: ToDigestThread) => {
  parentPort?.postMessage(sha256Words([payload]) satisfies FromDigestThread);
});
