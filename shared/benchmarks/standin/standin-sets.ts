/** How stand-ins are named; their files, and so their names, say what they are. */
const STAND_IN_NAME = /stand-?in/i;

/** True when the name of a model says that it is a stand-in. */
export function isStandInName(model: string): boolean {
  return STAND_IN_NAME.test(model);
}

/** Answer of a SUT node to Name, which LoadGen logs: the name of a stand-in is part of it. */
export function sutNodeName(node: string, model: string): string {
  return isStandInName(model) ? `${node} (stand-in: ${model})` : node;
}

/**
 * {@link sutNodeName} without its mark of a stand-in: the name that the node's operator gave it.
 */
export function nodeOf(name: string): string {
  return name.replace(/ \(stand-in: .*\)$/, '');
}
