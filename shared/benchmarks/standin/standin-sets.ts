/**
 * The classes of ImageNet that a stand-in's images show: the digits 0 to 9 are its classes 0 to 9 of 1,000.
 */
export const STANDIN_CLASS_COUNT = 10;

/**
 * Number of the way in which images are drawn. Raise it with every change of the drawing, so that
 * cached data sets and models of the old drawing are no longer found.
 */
export const STANDIN_DRAWING_REVISION = 1;

/** Quality of the JPEG files, as it is common for photographs. */
export const STANDIN_JPEG_QUALITY = 90;

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

/** {@link sutNodeName} without its mark of a stand-in: the name that the node's operator gave it. */
export function nodeOf(name: string): string {
  return name.replace(/ \(stand-in: .*\)$/, '');
}
