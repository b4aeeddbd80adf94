import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { protoFolder } from '../../../shared/base/files/package-files.ts';

/** Python 3 with grpcio and protobuf: as Debian's python3-grpcio has them. */
export const PYTHON: string = process.env['PYTHON'] ?? '/usr/bin/python3';

/** `src/python/library` of a clone of triton-inference-server/client; undefined: its tests skip. */
const TRITON_CLIENT: string | undefined = process.env['LONGHAUL_TRITONCLIENT'];

/** `protobuf` of a clone of triton-inference-server/common; undefined: its tests skip. */
const TRITON_PROTOS: string | undefined = process.env['LONGHAUL_TRITON_PROTOS'];

const PROTOC = 'protoc';
const PLUGIN = process.env['GRPC_PYTHON_PLUGIN'] ?? '/usr/bin/grpc_python_plugin';

/** Why a program that needs this module cannot run here; undefined: it can. */
export function pythonHas(module: string): string | undefined {
  return spawnSync(PYTHON, ['-c', `import ${module}`]).status === 0
    ? undefined
    : `${PYTHON} lacks ${module} (PYTHON names another one)`;
}

/** Why a server written in Python cannot run here; undefined: it can. */
export function pythonObstacle(): string | undefined {
  const { status } = spawnSync(PYTHON, ['-c', 'import grpc, google.protobuf']);
  if (status !== 0) return `${PYTHON} lacks grpcio or protobuf (PYTHON names another one)`;
  return spawnSync(PROTOC, ['--version']).status === 0 ? undefined : 'protoc is not installed';
}

/** Why tritonclient cannot run here; undefined: it can. */
export function tritonClientObstacle(): string | undefined {
  const missing = pythonObstacle();
  if (missing !== undefined) return missing;
  if (TRITON_CLIENT === undefined || TRITON_PROTOS === undefined) {
    return 'LONGHAUL_TRITONCLIENT and LONGHAUL_TRITON_PROTOS are not set (test/outside/interop/README.md)';
  }
  if (!existsSync(join(TRITON_CLIENT, 'tritonclient/grpc/_client.py'))) {
    return `${TRITON_CLIENT} is not the folder src/python/library of triton-inference-server/client`;
  }
  if (!existsSync(join(TRITON_PROTOS, 'grpc_service.proto'))) {
    return `${TRITON_PROTOS} is not the folder protobuf of triton-inference-server/common`;
  }
  if (!existsSync(PLUGIN)) return `${PLUGIN} is missing (GRPC_PYTHON_PLUGIN names another one)`;
  const { status } = spawnSync(PYTHON, ['-c', 'import numpy, rapidjson, packaging']);
  return status === 0 ? undefined : `${PYTHON} lacks numpy, rapidjson or packaging`;
}

/**
 * Writes the message classes of our .proto of the protocol into a folder.
 * @returns The folder.
 */
export function makeOwnStubs(folder: string): string {
  const protos = join(protoFolder(), 'inference');
  must(PROTOC, ['-I', protos, `--python_out=${folder}`, 'open_inference.proto']);
  return folder;
}

/**
 * Writes the message classes of a SUT node's .proto into a folder.
 * @returns The folder, for PYTHONPATH.
 */
export function makeSutStubs(folder: string): string {
  must(PROTOC, ['-I', protoFolder(), `--python_out=${folder}`, 'mlperf/network/v1/sut.proto']);
  return folder;
}

/**
 * Copies tritonclient and makes the classes that its build makes: protoc's output under the
 * client's names for it.
 * @returns The folder for PYTHONPATH.
 */
export function makeTritonClient(folder: string): string {
  const at = join(folder, 'tritonclient');
  cpSync(join(TRITON_CLIENT as string, 'tritonclient'), at, { recursive: true });
  const out = join(folder, 'made');
  mkdirSync(out);
  const protos = ['grpc_service.proto', 'model_config.proto'];
  must(PROTOC, [
    ...['-I', TRITON_PROTOS as string, `--plugin=protoc-gen-grpc_python=${PLUGIN}`],
    ...[`--python_out=${out}`, `--grpc_python_out=${out}`, ...protos],
  ]);
  const made: readonly (readonly [string, string])[] = [
    ['model_config_pb2.py', 'model_config_pb2.py'],
    ['grpc_service_pb2.py', 'service_pb2.py'],
    ['grpc_service_pb2_grpc.py', 'service_pb2_grpc.py'],
  ];
  for (const [from, to] of made) {
    const text = readFileSync(join(out, from), 'utf8')
      .replace(/^import grpc_service_pb2 as/m, 'from tritonclient.grpc import service_pb2 as')
      .replace(/^import model_config_pb2 as/m, 'from tritonclient.grpc import model_config_pb2 as');
    writeFileSync(join(at, 'grpc', to), text);
  }
  return folder;
}

function must(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}
