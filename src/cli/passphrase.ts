import { readInputFile } from './input-file.ts';
import { io } from './io.ts';

export interface PassphraseOptions {
  readonly passphraseFile?: string;
}

/** Never an argument itself, which other users of the machine can see. */
export async function readPassphrase({ passphraseFile }: PassphraseOptions): Promise<string | undefined> {
  const given =
    passphraseFile === undefined ? io().env.INNBOUND_PASSPHRASE : await readInputFile(passphraseFile, 'the passphrase');
  return given?.trim() || undefined;
}

export const passphraseOption = [
  '--passphrase-file <file>',
  'a file with the passphrase of the keys; otherwise INNBOUND_PASSPHRASE',
] as const;
