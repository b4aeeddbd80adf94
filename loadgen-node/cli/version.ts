import { tableLines } from '../../shared/base/text.ts';
import { componentVersions } from '../../shared/host/component-versions.ts';
import { checkSelf } from '../run/judge/self-check.ts';
import { verb } from './verb.ts';

const ONNX_RUNTIME = 'onnxruntime-node';

/** `longhaul version`: this build, and its runtime. */
export const versionVerb = verb({
  example: `
Example:
  longhaul version`,
  action: () => {
    const { version, hash, state } = checkSelf();
    const components = componentVersions();
    const hasRuntime = components.some(({ name }) => name === ONNX_RUNTIME);
    const rows = [
      ['longhaul', version],
      ['files', `SHA-256 ${hash}, ${state}`],
      ...components.map(({ name, version: own }) => [name, own]),
      ...(hasRuntime ? [] : [[ONNX_RUNTIME, 'not installed']]),
      ['system', `${process.platform} ${process.arch}`],
    ];
    const lines = tableLines(rows, '   ', () => false);
    const { platform, arch } = process;
    return {
      text: `${lines.join('\n')}\n`,
      json: { version, hash, state, components, platform, arch },
    };
  },
});
