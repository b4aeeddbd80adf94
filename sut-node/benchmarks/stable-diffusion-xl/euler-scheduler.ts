// Euler's method as diffusers' EulerDiscreteScheduler has it with the configuration of SDXL base
// 1.0: scaled_linear, leading, steps_offset 1, linear interpolation, epsilon.

const TRAIN_STEPS = 1000;
const BETA_FIRST = 0.000_85;
const BETA_LAST = 0.012;
const STEPS_OFFSET = 1;

/** A step of the scheduler. */
export interface EulerStep {
  /** Number of the training step, an input of the model. */
  readonly timestep: number;
  /** Noise of the latents before and after the step, in deviations of the picture's own. */
  readonly sigma: number;
  readonly sigmaNext: number;
}

/** Noise at each training step: sqrt((1 - a) / a), a being the product of all 1 - beta up to it. */
export function trainingSigmas(): Float32Array {
  const [first, last] = [Math.sqrt(BETA_FIRST), Math.sqrt(BETA_LAST)];
  let product = 1;
  return Float32Array.from({ length: TRAIN_STEPS }, (_, i) => {
    product *= 1 - (first + ((last - first) * i) / (TRAIN_STEPS - 1)) ** 2;
    return Math.sqrt((1 - product) / product);
  });
}

/** The steps, from most noise to none. */
export function eulerSteps(count: number): EulerStep[] {
  const sigmas = trainingSigmas();
  const ratio = Math.floor(TRAIN_STEPS / count);
  const timesteps = Array.from({ length: count }, (_, i) => (count - 1 - i) * ratio + STEPS_OFFSET);
  const sigmaOf = (timestep: number | undefined): number =>
    timestep === undefined ? 0 : (sigmas[timestep] as number);
  return timesteps.map((timestep, i) => ({
    timestep,
    sigma: sigmaOf(timestep),
    sigmaNext: sigmaOf(timesteps[i + 1]),
  }));
}

/**
 * Factor on latents of deviation 1 before the first step, and divisor of the model's input at a
 * step.
 */
export function noiseScale(sigma: number): number {
  return Math.sqrt(sigma * sigma + 1);
}

/**
 * One step, in place: latents + noise x (sigmaNext - sigma).
 * @param noise Predicted noise for the negative prompt, then for the positive one.
 * @param guidance Guidance scale: extrapolation from the negative prompt's noise to the positive
 * one's.
 */
export function guidedStep(
  latents: Float32Array,
  noise: Float32Array,
  guidance: number,
  { sigma, sigmaNext }: EulerStep,
): void {
  const count = latents.length;
  for (let i = 0; i < count; i += 1) {
    const negative = noise[i] as number;
    const guided = negative + guidance * ((noise[count + i] as number) - negative);
    latents[i] = (latents[i] as number) + guided * (sigmaNext - sigma);
  }
}
