import { connect } from 'node:net';
import { join } from 'node:path';
import { monotonicClock } from '../../../loadgen-node/loadgen/engine/monotonic-clock.ts';
import { LOAD_FILES, readNumbers, type TailJob, writeTimes } from './open-load.ts';
import { FrameReader, REQUEST_HEAD_BYTES, RESPONSE_BYTES } from './tcp-frames.ts';

// Goal: an open load over one TCP connection with nothing around it: what Node.js can do. Reads
// into one buffer that is used again, writes heads and payloads as they lie in memory, issues by
// LoadGen's own clock. A process of its own, with the job as its argument; writes its times into
// the job's folder.

const READ_BYTES_MAX = 256 * 1024;

const job = JSON.parse(process.argv[2] as string) as TailJob;
const { sizeBytes, sampleCount } = job;
const clock = monotonicClock;
const scheduledNs = readNumbers(join(job.folder, LOAD_FILES.due));
const count = scheduledNs.length;
const issuedNs = new Float64Array(count);
const completedNs = new Float64Array(count);
const library = Array.from({ length: sampleCount }, (_, i) => Buffer.alloc(sizeBytes, i));
// A head per query: none is written over while it waits to be sent.
const heads = Buffer.alloc(count * REQUEST_HEAD_BYTES);
for (let id = 0; id < count; id += 1) {
  heads.writeUInt32LE(id, id * REQUEST_HEAD_BYTES);
  heads.writeUInt32LE(sizeBytes, id * REQUEST_HEAD_BYTES + 4);
}

let beginMs = 0;
let beginNs = 0;
let issued = 0;
let completed = 0;
let readNs = 0;

const reader = new FrameReader(
  RESPONSE_BYTES,
  () => 0,
  (response) => {
    completedNs[response.readUInt32LE(0)] = readNs;
    completed += 1;
    if (completed === count) finish();
  },
);
const [host, port] = job.address.split(':') as [string, string];
const socket = connect({
  host,
  port: Number(port),
  noDelay: true,
  onread: {
    buffer: Buffer.allocUnsafeSlow(READ_BYTES_MAX),
    callback: (bytes, buffer) => {
      readNs = clock.nowNs() - beginNs;
      reader.read(buffer.subarray(0, bytes));
      return true;
    },
  },
});
socket.once('connect', () => {
  beginMs = Date.now();
  beginNs = clock.nowNs();
  pump();
});

/** Issues what is due and plans the next call, as LoadGen's issue loop does. */
function pump(): void {
  for (;;) {
    const nowNs = clock.nowNs() - beginNs;
    if (issued === count) return;
    const dueNs = scheduledNs[issued] as number;
    if (dueNs > nowNs) {
      clock.callAt(beginNs + dueNs, pump);
      return;
    }
    issuedNs[issued] = nowNs;
    issue(issued);
    issued += 1;
  }
}

function issue(id: number): void {
  socket.cork();
  socket.write(heads.subarray(id * REQUEST_HEAD_BYTES, (id + 1) * REQUEST_HEAD_BYTES));
  socket.write(library[id % sampleCount] as Buffer);
  socket.uncork();
}

function finish(): void {
  writeTimes(join(job.folder, LOAD_FILES.times), { beginMs, scheduledNs, issuedNs, completedNs });
  process.exit();
}
