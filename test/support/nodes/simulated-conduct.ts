import { type SimulatedRun, labelOf } from '../../scenes/simulated-run/simulated-run.ts';
import type { Conduct, Treatment } from './sut-conduct.ts';

/** The parts of a simulated run that a conduct decides; its keys are sample indices. Of one run only. */
export function conducted(conduct: Conduct): Pick<SimulatedRun, 'serviceNs' | 'responseOf'> {
  const treat = conduct();
  // The one worker answers in the order in which samples came.
  const waiting: Treatment[] = [];
  let answered = 0;
  return {
    serviceNs: (sampleIndex) => {
      const treatment = treat(String(sampleIndex));
      waiting.push(treatment);
      return treatment.serviceNs;
    },
    responseOf: (sampleIndex) => {
      const isRight = waiting[answered]?.isRight === true;
      answered += 1;
      const label = isRight ? labelOf(sampleIndex) : 0;
      return new Uint8Array(new Float32Array([label]).buffer);
    },
  };
}
