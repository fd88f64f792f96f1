import { InvalidArgumentError } from 'commander';

/** How values of options are read from the command line. */

export function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('Expected a port from 0 to 65535.');
  return port;
}

export function positive(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Expected a whole number of at least 1.');
  return value;
}

/** A text that is stored for people, such as a name or a reason. */
export const shortText =
  (most: number) =>
  (text: string): string => {
    const trimmed = text.trim();
    if (trimmed === '' || trimmed.length > most) throw new InvalidArgumentError(`Expected 1 to ${most} characters.`);
    return trimmed;
  };
