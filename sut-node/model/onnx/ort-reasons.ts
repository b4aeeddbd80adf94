import type { Provider } from '../../settings/model-settings.ts';

/**
 * Element types that ONNX Runtime's JavaScript API lacks, by ONNX's number (TensorProto.DataType).
 */
const LACKING_TYPES: ReadonlyMap<string, string> = new Map([
  ['14', 'complex64'],
  ['15', 'complex128'],
  ['16', 'bfloat16'],
  ['17', 'float8e4m3fn'],
  ['18', 'float8e4m3fnuz'],
  ['19', 'float8e5m2'],
  ['20', 'float8e5m2fnuz'],
  ['21', 'uint4'],
  ['22', 'int4'],
  ['23', 'float4e2m1'],
]);

/**
 * Place in the sources of ONNX Runtime before its words, and the function there: with its
 * parameters, or by its bare name.
 */
const SOURCE_PLACE = /\S+\.(?:cc|cpp|h|cu):\d+ (?:(?:[^()]*::[^()]*\([^()]*\)(?: const)? )|\w+ )?/g;

/** An error of ONNX Runtime in one line: all that it says, without places in its sources. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .join('; ')
    .replaceAll(SOURCE_PLACE, '');
}

/**
 * True where the weights lie outside the folder of the model that was given as bytes: where links
 * lead, they may be its own.
 */
export function isOutsideFolder(reason: string): boolean {
  return reason.includes('escapes model directory');
}

/**
 * Causes that a user can do something about: a pattern of ONNX Runtime's words, and what it means.
 */
const CAUSES: readonly [RegExp, (found: readonly string[]) => string][] = [
  [
    /protobuf parsing failed/i,
    ([reason = '']) => `is not an ONNX model, or only a part of one: ${reason}`,
  ],
  [
    /Unsupported data type: (\d+)/,
    ([, type = '']) =>
      `has an input or output of the element type ${LACKING_TYPES.get(type) ?? `number ${type}`}, ` +
      "which ONNX Runtime's JavaScript API does not have: export it with float or float16 there",
  ],
  [
    /model IR version: (\d+), max supported IR version: (\d+)/,
    ([, version = '', newest = '']) =>
      `has the IR version ${version}; this ONNX Runtime reads ${newest} at most: export it with an older onnx package`,
  ],
  [
    /Opset (\d+) is under development.*domain (\S+) is till opset (\d+)/,
    ([, version = '', domain = '', newest = '']) =>
      `has operators of ${domain} opset ${version}; this ONNX Runtime has ${newest} at most: export it with opset ${newest} or below`,
  ],
  [
    /External data path does not exist: "(.*?)"/,
    ([, file = '']) =>
      `has weights in a file of their own, which is missing: ${file}; copy it there, under that name`,
  ],
  [
    /External data path: "(.*?)" resolved path: "(.*?)" allowed directory: "(.*?)"/,
    ([, path = '', file = '', folder = '']) =>
      `has weights outside its folder, which ONNX Runtime does not read: ${path} is ${file}, and not below ${folder}; ` +
      'export it with its weights beside it, or put the files in the place of links',
  ],
];

/** Why ONNX Runtime does not load a model. @param reason By {@link reasonOf} */
export function describeRefusal(
  file: string,
  providers: readonly Provider[],
  reason: string,
): string {
  if (reason.includes('fallback to CPU EP')) {
    const names = providers.join(',');
    return (
      `${file} has operators that none of the requested providers (${names}) can run: ` +
      `${reason} To let those run on the CPU: --providers ${names},cpu`
    );
  }
  for (const [pattern, words] of CAUSES) {
    const found = pattern.exec(reason);
    if (found !== null) return `${file} ${words([reason, ...found.slice(1)])}`;
  }
  return `${file}: ONNX Runtime does not load this model: ${reason}`;
}
