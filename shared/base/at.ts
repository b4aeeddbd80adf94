/**
 * The element at an index that is known to be in range. Not for loops over typed arrays: after
 * lists of many kinds a call takes 35 ns, an index 1 ns.
 * @throws RangeError if the list has no such element
 */
export function at<T>(list: ArrayLike<T>, index: number): T {
  const element = list[index];
  if (element === undefined) {
    throw new RangeError(`there is no element ${index} in a list of ${list.length}`);
  }
  return element;
}
