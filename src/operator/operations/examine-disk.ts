import { statfs } from 'node:fs/promises';
import { type Diagnosis, judgeDisk } from '../watch/diagnosis.ts';

/** The disk under a folder, for `innbound doctor` and for the alert. */
export async function examineDisk(folder: string): Promise<Diagnosis> {
  const { bavail, bsize } = await statfs(folder);
  return judgeDisk(folder, bavail * bsize);
}
