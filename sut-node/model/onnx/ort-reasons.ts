import type { Provider } from '../../settings/model-settings.ts';

/**
 * Element types that ONNX Runtime's JavaScript API does not have, by ONNX's number
 * (TensorProto.DataType).
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
 * Place in the sources of ONNX Runtime that stands before an error text, and the function there,
 * with or without its parameters.
 */
const SOURCE_PLACE = /\S+\.(?:cc|cpp|h|cu):\d+ (?:(?:[^()]*::[^()]*\([^()]*\)(?: const)? )|\w+ )?/g;

/** The text of an error of ONNX Runtime in one line, without places in its sources. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .join('; ')
    .replaceAll(SOURCE_PLACE, '');
}

/**
 * True if ONNX Runtime found the weights outside the folder of a model that was given as bytes. If
 * links lead to the weights, they may still belong to the model.
 */
export function isOutsideFolder(reason: string): boolean {
  return reason.includes('escapes model directory');
}

/**
 * Causes that a user can mend: a pattern of ONNX Runtime's text, and the message for it.
 */
const CAUSES: readonly [RegExp, (found: readonly string[]) => string][] = [
  [
    /protobuf parsing failed/i,
    ([reason = '']) => `is not an ONNX model, or is incomplete: ${reason}`,
  ],
  [
    /Unsupported data type: (\d+)/,
    ([, type = '']) =>
      `has an input or output of the element type ${LACKING_TYPES.get(type) ?? `number ${type}`}, ` +
      "which ONNX Runtime's JavaScript API does not have: export the model with float or float16 in its place",
  ],
  [
    /model IR version: (\d+), max supported IR version: (\d+)/,
    ([, version = '', newest = '']) =>
      `has the IR version ${version}; this ONNX Runtime reads ${newest} at most: export the model with an older onnx package`,
  ],
  [
    /Opset (\d+) is under development.*domain (\S+) is till opset (\d+)/,
    ([, version = '', domain = '', newest = '']) =>
      `has operators of ${domain} opset ${version}; this ONNX Runtime has ${newest} at most: export the model with opset ${newest} or below`,
  ],
  [
    /External data path does not exist: "(.*?)"/,
    ([, file = '']) =>
      `has weights in a separate file, which is missing: ${file}; copy that file there, under this name`,
  ],
  [
    /External data path: "(.*?)" resolved path: "(.*?)" allowed directory: "(.*?)"/,
    ([, path = '', file = '', folder = '']) =>
      `has weights outside its folder, which ONNX Runtime does not read: ${path} is ${file}, and not below ${folder}; ` +
      'export the model with its weights beside it, or replace links by the files',
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
      `${reason} To run those operators on the CPU: --providers ${names},cpu`
    );
  }
  for (const [pattern, words] of CAUSES) {
    const found = pattern.exec(reason);
    if (found !== null) return `${file} ${words([reason, ...found.slice(1)])}`;
  }
  return `${file}: ONNX Runtime does not load this model: ${reason}`;
}
