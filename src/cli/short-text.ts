import { InvalidArgumentError } from 'commander';

/** Reads an option that is stored for people, such as a name or a reason. */
export const shortText =
  (most: number) =>
  (text: string): string => {
    const trimmed = text.trim();
    if (trimmed === '' || trimmed.length > most) throw new InvalidArgumentError(`Expected 1 to ${most} characters.`);
    return trimmed;
  };
