/**
 * Remembers results of a pure function under a text made from its arguments: the same names and numbers come with every change of a
 * booking. Forgets all of them when there are too many.
 */
export function memo<Of>(most: number): (key: string, make: () => Of) => Of {
  const known = new Map<string, Of>();
  return (key, make) => {
    const value = known.get(key);
    if (value !== undefined) return value;
    const made = make();
    if (known.size >= most) known.clear();
    known.set(key, made);
    return made;
  };
}
