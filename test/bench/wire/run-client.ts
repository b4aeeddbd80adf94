import type { SystemUnderTest } from '../../../shared/domain/system-under-test.ts';
import { ClosedLoop } from './closed-loop.ts';
import type { ClientJob } from './measured.ts';

/** The part of a job that is the same for all clients. */
type LoopJob = Pick<ClientJob, 'outstanding' | 'sampleCount' | 'warmUpS' | 'seconds' | 'serverPid'>;

/**
 * One measurement with a SUT that is connected, printed as a line of JSON; the process ends with
 * it.
 * @param queriesPerSecondMax No path of this kind is faster: the recorder takes memory for so many.
 * @param check Of the run, once the SUT was stopped. Throws where it is not to be believed.
 */
export async function runClient(
  sut: SystemUnderTest,
  job: LoopJob,
  queriesPerSecondMax: number,
  check: () => void,
): Promise<void> {
  await sut.name();
  const loop = new ClosedLoop(sut, {
    outstanding: job.outstanding,
    sampleCount: job.sampleCount,
    warmUpNs: job.warmUpS * 1e9,
    measuredNs: job.seconds * 1e9,
    queriesMax: Math.ceil((job.warmUpS + job.seconds) * queriesPerSecondMax),
    serverPid: job.serverPid,
  });
  await sut.start(loop);
  const measured = await loop.run();
  await sut.stop();
  check();
  process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit());
}
