import { imagenetBenchmark } from '../imagenet/imagenet-benchmark.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

/** MobileNet v1 on ImageNet 2012, on the LoadGen node. */
export const benchmark: LoadgenBenchmark = imagenetBenchmark('mobilenet');
