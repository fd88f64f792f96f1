import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export type Spool = ReturnType<typeof openSpool>;

/**
 * A folder for a few bytes that must survive a crash until they reach the store. Writing is synchronous on purpose: nothing else of
 * this process can run, or die, between the arrival of the bytes and the disk's confirmation.
 */
export function openSpool(folder: string) {
  const fileOf = (name: string) => path.join(folder, Buffer.from(name).toString('base64url'));
  return {
    put(name: string, bytes: Uint8Array): void {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = fileOf(name);
      const aside = `${file}.${process.pid}`;
      writeFileSync(aside, bytes, { mode: 0o600, flush: true });
      renameSync(aside, file);
    },
    get(name: string): Buffer | undefined {
      try {
        return readFileSync(fileOf(name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    remove(name: string): void {
      rmSync(fileOf(name), { force: true });
    },
    names(): string[] {
      try {
        const files = readdirSync(folder).filter((file) => /^[\w-]+$/.test(file));
        return files.map((file) => Buffer.from(file, 'base64url').toString());
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      }
    },
  };
}
