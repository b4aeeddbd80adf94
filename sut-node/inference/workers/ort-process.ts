import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { NO_BYTES, ReusedBuffers } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { disableTelemetry } from '../../model/onnx/onnxruntime.ts';
import {
  type FromProcessHead,
  type ToProcessHead,
  WORKER_SOCKET_FD,
  WorkerFrameReader,
  writeFrame,
} from './worker-process.ts';
import {
  type FailedMessage,
  type FromWorker,
  spawnOrtWorker,
  type WorkerThread,
} from './worker-thread.ts';

/**
 * Entry of a worker process (started from the compiled JavaScript): carries messages between the
 * node's socket and one worker thread, the same that a node without processes has.
 *
 *   node ══ socket ══ this thread ══ worker thread with ONNX Runtime
 *
 * ONNX Runtime blocks its thread; this one reads the next batch meanwhile, and sees at once when
 * the node is gone: then the process ends as it stands.
 */

/** Per worker: a running batch, and a waiting one. */
const buffers: ReusedBuffers = new ReusedBuffers(2);

let worker: WorkerThread | undefined;
let hasFailed = false;
let isStopping = false;
let hasEnded = false;

const reader = new WorkerFrameReader({
  takeBuffer: (bytes) => buffers.take(bytes),
  onFrame: (head, body) => take(head as ToProcessHead, body),
});
/** Node.js documents `onread` here, but its types lack it. */
const socketOptions: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
  fd: WORKER_SOCKET_FD,
  readable: true,
  writable: true,
  // Reads directly into the batch's buffer.
  onread: {
    buffer: () => reader.space,
    callback: (bytes) => {
      reader.filled(bytes);
      return true;
    },
  },
};
const socket: Socket = new Socket(socketOptions);

function send(head: FromProcessHead, body: Uint8Array): void {
  writeFrame(socket, head, body);
}

function take(head: ToProcessHead, body: ArrayBuffer): void {
  switch (head.kind) {
    case 'start':
      process.title = `longhaul ${head.name}`;
      worker = spawnOrtWorker(head.name, head.start, {
        onMessage: forward,
        onEnd: (reason) => end(head.name, reason),
      });
      break;
    case 'batch':
      worker?.post({ ...head, payloads: body }, [body]);
      break;
    case 'stop':
      isStopping = true;
      void worker?.stop();
      break;
    default:
      worker?.post(head, []);
  }
}

function forward(message: FromWorker): void {
  if (message.kind === 'done') {
    const { payloads, responses, ...head } = message;
    buffers.giveBack(payloads);
    send(head, new Uint8Array(responses));
    return;
  }
  hasFailed ||= message.kind === 'failed';
  send(message, NO_BYTES);
}

/** The worker thread has ended: reports the reason and ends the process. */
function end(name: string, reason: string): void {
  hasEnded = true;
  if (!hasFailed && !isStopping) {
    const text = `${name} ended: ${reason}`;
    send({ kind: 'failed', code: 'ERR_SUT_WORKER', text } satisfies FailedMessage, NO_BYTES);
  }
  socket.end(() => process.exit(0));
}

/** Ends the process at once when the node is lost: an inference cannot be awaited. */
function endWithNode(): void {
  if (!hasEnded) process.kill(process.pid, 'SIGKILL');
}

disableTelemetry();
// The node handles signals to the whole group (Ctrl-C, a service manager): it drains, then asks
// this process to end.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
socket.on('end', endWithNode);
socket.on('error', endWithNode);
