/**
 * Remembers the results of a pure function by a text made from its arguments: the same names and numbers come with every change of a
 * booking. Forgets all of them when there are too many.
 */
export function memo<Of>(most: number, make: (key: string) => Of): (key: string) => Of {
  const known = new Map<string, Of>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = make(key);
    if (known.size >= most) known.clear();
    known.set(key, made);
    return made;
  };
}
