import { compiledModule } from '../../../shared/base/files/package-files.ts';
import { percentOf } from '../../../shared/base/process/terminal.ts';
import type { InProcessHalf, InProcessNode } from '../../../shared/domain/in-process-node.ts';
import type { RunHost } from './host.ts';

/** Settings of `longhaul sut`, as they were said. */
export type SutSources = Parameters<InProcessHalf['startInProcessNode']>[0];

/**
 * Loads the other half by path, and a model into this process: only this needs ONNX Runtime on the LoadGen node.
 * @throws MlperfError as a SUT node's start
 */
export async function loadInProcessNode(
  sources: SutSources,
  host: RunHost,
): Promise<InProcessNode> {
  const { href } = compiledModule('sut-node/in-process/start-in-process-node.js');
  const half = (await import(href)) as InProcessHalf;
  return await half.startInProcessNode(sources, (fraction, what) => {
    host.progress?.(`in process: ${what}`, percentOf(fraction));
  });
}
