/**
 * A constructor of plain objects, for those of many fields of which some are left out. V8 learns how much room its objects need
 * and gives it at once; one that starts as {} has room for four fields, and grows by three: a guest took 287 bytes instead of 131.
 */
export function plain<Of extends object, Given extends readonly unknown[]>(
  fill: (this: Of, ...given: Given) => void,
): new (
  ...given: Given
) => Of {
  fill.prototype = Object.prototype;
  return fill as unknown as new (
    ...given: Given
  ) => Of;
}
