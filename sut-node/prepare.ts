/** What `longhaul prepare` takes of this half; loaded by path, since the LoadGen half never imports it. */
export { ensureStandinAccuracy } from './benchmarks/imagenet/standin-accuracy.ts';
export { ensureStandinModels } from './benchmarks/imagenet/standin-models.ts';
