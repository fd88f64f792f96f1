/**
 * Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. Call it before starting anything, so that a
 * signal during the start also leads to an orderly stop.
 */
export function ended(atSecond: () => void = () => process.exit(130)): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const heard = (): void => {
      // A terminal signals the whole process group and npm signals its child as well: one Ctrl-C can arrive twice.
      if (firstAt !== undefined && performance.now() - firstAt > 2_000) atSecond();
      firstAt ??= performance.now();
      resolve();
    };
    process.on('SIGINT', heard);
    process.on('SIGTERM', heard);
  });
}
