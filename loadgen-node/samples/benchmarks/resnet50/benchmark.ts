import { imagenetBenchmark } from '../imagenet/imagenet-benchmark.ts';
import type { LoadgenBenchmark } from '../loadgen-benchmark.ts';

/** ResNet-50 v1.5 on ImageNet 2012, on the LoadGen node. */
export const benchmark: LoadgenBenchmark = imagenetBenchmark('resnet50');
