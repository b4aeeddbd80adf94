import protobuf from 'protobufjs';

/** All that a loaded file declares, sorted: a line per message, field, enum value and call. */
export function linesIn(object: protobuf.ReflectionObject): string[] {
  object.root.resolveAll();
  return allIn(object).flatMap(linesOf).sort();
}

function allIn(object: protobuf.ReflectionObject): protobuf.ReflectionObject[] {
  const nested = object instanceof protobuf.Namespace ? object.nestedArray : [];
  return [object, ...nested.flatMap(allIn)];
}

function linesOf(object: protobuf.ReflectionObject): string[] {
  const path = nameOf(object, '');
  if (object instanceof protobuf.Enum) {
    return Object.entries(object.values).map(([key, number]) => `enum ${path}: ${key} = ${number}`);
  }
  if (object instanceof protobuf.Service) return object.methodsArray.map(methodLine);
  if (!(object instanceof protobuf.Type)) return [];
  return [`message ${path}`, ...object.fieldsArray.map((field) => fieldLine(path, field))];
}

/** The full name without protobuf's first dot. */
function nameOf(type: protobuf.ReflectionObject | null, plain: string): string {
  return (type === null ? plain : type.fullName).replace(/^\./, '');
}

function methodLine(method: protobuf.Method): string {
  const from = `${method.requestStream ? 'stream ' : ''}${nameOf(method.resolvedRequestType, '')}`;
  const to = `${method.responseStream ? 'stream ' : ''}${nameOf(method.resolvedResponseType, '')}`;
  return `rpc ${nameOf(method, '')}(${from}) returns (${to})`;
}

function fieldLine(path: string, field: protobuf.Field): string {
  const isMap = field instanceof protobuf.MapField;
  const isOptional = field.options?.['proto3_optional'] === true;
  const label = isMap ? '' : field.repeated ? 'repeated ' : isOptional ? 'optional ' : '';
  const plain = nameOf(field.resolvedType, field.type);
  const type = isMap ? `map<${field.keyType}, ${plain}>` : plain;
  const oneof = isOptional || field.partOf === null ? '' : ` in ${field.partOf.name}`;
  return `field ${path}.${field.name} = ${field.id}: ${label}${type}${oneof}`;
}
