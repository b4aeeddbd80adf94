import protobuf from 'protobufjs';

/** protobuf writes full names with a dot before them. */
export const withoutDot = (name: string): string => name.replace(/^\./, '');

/** A call as text. */
export function methodLine(
  name: string,
  from: string,
  to: string,
  streams: readonly boolean[],
): string {
  const [client, server] = streams.map((isStream) => (isStream ? 'stream ' : ''));
  return `rpc ${name}(${client}${withoutDot(from)}) returns (${server}${withoutDot(to)})`;
}

/** A field as text. */
export function fieldLine(
  path: string,
  { name, number }: { readonly name: string; readonly number: number },
  rest: {
    readonly type: string;
    readonly isRepeated: boolean;
    readonly isOptional: boolean;
    readonly oneof: string | undefined;
  },
): string {
  const label = rest.isRepeated ? 'repeated ' : rest.isOptional ? 'optional ' : '';
  const oneof = rest.oneof === undefined ? '' : ` in ${rest.oneof}`;
  return `field ${path}.${name} = ${number}: ${label}${rest.type}${oneof}`;
}

/** All that a loaded file declares, sorted: a line per message, field, enum value and call. */
export function linesIn(root: protobuf.Root): string[] {
  root.resolveAll();
  return allIn(root).flatMap(linesOf).sort();
}

function allIn(object: protobuf.ReflectionObject): protobuf.ReflectionObject[] {
  const nested = object instanceof protobuf.Namespace ? object.nestedArray : [];
  return [object, ...nested.flatMap(allIn)];
}

function linesOf(object: protobuf.ReflectionObject): string[] {
  const path = withoutDot(object.fullName);
  if (object instanceof protobuf.Enum) {
    return Object.entries(object.values).map(([key, number]) => `enum ${path}: ${key} = ${number}`);
  }
  if (object instanceof protobuf.Service) return object.methodsArray.map(sourceMethod);
  if (!(object instanceof protobuf.Type)) return [];
  return [`message ${path}`, ...object.fieldsArray.map((field) => sourceField(path, field))];
}

const nameOf = (type: protobuf.ReflectionObject | null, plain: string): string =>
  type === null ? plain : type.fullName;

function sourceMethod(method: protobuf.Method): string {
  const from = nameOf(method.resolvedRequestType, method.requestType);
  const to = nameOf(method.resolvedResponseType, method.responseType);
  const streams = [method.requestStream === true, method.responseStream === true];
  return methodLine(withoutDot(method.fullName), from, to, streams);
}

function sourceField(path: string, field: protobuf.Field): string {
  const type = withoutDot(nameOf(field.resolvedType, field.type));
  const isOptional = field.options?.['proto3_optional'] === true;
  return fieldLine(
    path,
    { name: field.name, number: field.id },
    {
      type: field instanceof protobuf.MapField ? `map<${field.keyType}, ${type}>` : type,
      isRepeated: field.repeated,
      isOptional,
      oneof: isOptional ? undefined : field.partOf?.name,
    },
  );
}
