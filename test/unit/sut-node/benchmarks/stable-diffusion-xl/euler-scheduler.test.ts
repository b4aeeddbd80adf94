import { describe, expect, it } from 'vitest';
import {
  eulerSteps,
  guidedStep,
  noiseScale,
} from '../../../../../sut-node/benchmarks/stable-diffusion-xl/euler-scheduler.ts';

// Goal: the scheduler is diffusers' EulerDiscreteScheduler with SDXL's configuration. Method: its
// published figures, and a denoiser whose steps are a product that can be written down.

describe('eulerSteps', () => {
  it('takes the first training step of each fiftieth, from 951 to 1', () => {
    const steps = eulerSteps(20);
    expect(steps.map(({ timestep }) => timestep)).toEqual(
      Array.from({ length: 20 }, (_, i) => 951 - 50 * i),
    );
    expect(steps.at(-1)?.sigmaNext).toBe(0);
    expect(steps.slice(1).map(({ sigma }) => sigma)).toEqual(
      steps.slice(0, -1).map(({ sigmaNext }) => sigmaNext),
    );
  });

  it('has the largest and the smallest noise that diffusers tells: 14.6146 and 0.0292', () => {
    // 1000 steps: all training steps but the first, and one behind the last, which there is not.
    const sigmas = eulerSteps(999).map(({ sigma }) => sigma);
    expect(sigmas[0]).toBeCloseTo(14.6146, 4);
    // Behind one training step the product is 1 - beta: sqrt(0.00085 / 0.99915) = 0.0291671.
    expect(noiseScale(Math.sqrt(0.000_85 / 0.999_15))).toBeCloseTo(1 / Math.sqrt(0.999_15), 12);
    expect(sigmas.at(-1)).toBeGreaterThan(0.0291);
    expect(sigmas.at(-1)).toBeLessThan(0.0415);
  });
});

describe('guidedStep', () => {
  it('follows the noise from a picture of zeros to nothing: latents shrink as sigma does', () => {
    const steps = eulerSteps(20);
    const first = steps[0]?.sigma as number;
    const latents = Float32Array.of(first, -2 * first);
    for (const step of steps) {
      // All is noise: x / sigma, whatever the prompt.
      const noise = latents.map((value) => value / step.sigma);
      guidedStep(latents, Float32Array.of(...noise, ...noise), 8, step);
      expect(latents[0]).toBeCloseTo(step.sigmaNext, 4);
      expect(latents[1]).toBeCloseTo(-2 * step.sigmaNext, 4);
    }
  });

  it('is the product of its steps for pictures that vary by v, noise = x s / (s² + v)', () => {
    const v = 0.3;
    const steps = eulerSteps(20);
    const latents = Float32Array.of(1);
    for (const step of steps) {
      const noise = ((latents[0] as number) * step.sigma) / (step.sigma ** 2 + v);
      guidedStep(latents, Float32Array.of(noise, noise), 8, step);
    }
    const product = steps.reduce((sum, { sigma, sigmaNext }) => {
      return sum * (1 + ((sigmaNext - sigma) * sigma) / (sigma ** 2 + v));
    }, 1);
    expect(latents[0]).toBeCloseTo(product, 6);
    // Without steps in between it would be sqrt(v / (s² + v)).
    const exact = Math.sqrt(v / ((steps[0]?.sigma as number) ** 2 + v));
    expect(Math.abs(product / exact - 1)).toBeLessThan(0.5);
  });

  it('goes beyond the negative prompt eight times as far as the other prompt is away', () => {
    const latents = Float32Array.of(0);
    guidedStep(latents, Float32Array.of(1, 2), 8, { timestep: 1, sigma: 1, sigmaNext: 0 });
    expect(latents[0]).toBe(-9);
  });
});
