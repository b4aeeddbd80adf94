import { GraphBuilder } from '../../../sut-node/model/onnx/graph-builder.ts';

/** A real ONNX model that has nothing to do with any benchmark: 4 pixels in, their absolute values out. */
export function otherModel(): Uint8Array {
  const graph = new GraphBuilder('other');
  const pixels = graph.input('pixels', 'float', ['N', 4]);
  graph.output(graph.operator('Abs', [pixels], {}, 'absolute'), 'float', ['N', 4]);
  return graph.build('not a benchmark');
}
