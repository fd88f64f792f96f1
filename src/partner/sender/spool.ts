import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeadLetter, Failure, Letter } from './letter.ts';

/** Where letters are kept between being handed over and being accepted by the receiver. */
export interface Spool {
  /** Keeps a letter before its first try. The name it returns is the letter's from then on. */
  keep(letter: Letter): Promise<string>;
  /** Forgets a letter that was accepted, or a dead one that is dropped. */
  forget(name: string): Promise<void>;
  /** Moves a letter to the dead ones. */
  bury(name: string, letter: Letter, attempts: number, failedAt: string, failure: Failure): Promise<void>;
  /** Letters whose tries were cut off by a crash, oldest first. */
  pending(): Promise<{ readonly name: string; readonly letter: Letter }[]>;
  /** Oldest first. */
  dead(): Promise<DeadLetter[]>;
}

/**
 * A folder with one file per letter: `pending/` and `dead/`. A file is written beside its place, synced and then renamed
 * into it, so that a crash leaves a whole letter or none; names begin with time and count, so that sorting them gives the
 * order of hand-over. Two processes may share the folder: a letter can then be sent twice, and its event id tells so.
 */
export class FolderSpool implements Spool {
  readonly #folder: string;
  #count = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(folder: string): Promise<FolderSpool> {
    for (const part of ['pending', 'dead', 'writing'])
      await mkdir(join(folder, part), { recursive: true, mode: 0o700 });
    return new FolderSpool(folder);
  }

  async keep(letter: Letter): Promise<string> {
    this.#count += 1;
    const time = String(Date.parse(letter.acceptedAt)).padStart(15, '0');
    const mark = createHash('sha256').update(`${process.pid} ${letter.eventId}`).digest('hex').slice(0, 12);
    const name = `${time}-${String(this.#count).padStart(9, '0')}-${mark}`;
    await this.#write('pending', name, letter);
    return name;
  }

  async forget(name: string): Promise<void> {
    await rm(join(this.#folder, 'pending', `${name}.json`), { force: true });
    await rm(join(this.#folder, 'dead', `${name}.json`), { force: true });
  }

  async bury(name: string, letter: Letter, attempts: number, failedAt: string, failure: Failure): Promise<void> {
    const dead: DeadLetter = { ...letter, id: name, attempts, failedAt, failure };
    await this.#write('dead', name, dead);
    await rm(join(this.#folder, 'pending', `${name}.json`), { force: true });
  }

  async pending() {
    const buried = new Set(await this.#names('dead'));
    const found: { name: string; letter: Letter }[] = [];
    for (const name of await this.#names('pending')) {
      // A crash between the two steps of bury leaves both files: the dead one counts.
      if (buried.has(name)) await rm(join(this.#folder, 'pending', `${name}.json`), { force: true });
      else for (const letter of await this.#read<Letter>('pending', name)) found.push({ name, letter });
    }
    return found;
  }

  async dead(): Promise<DeadLetter[]> {
    const found: DeadLetter[] = [];
    for (const name of await this.#names('dead')) found.push(...(await this.#read<DeadLetter>('dead', name)));
    return found;
  }

  async #names(part: string): Promise<string[]> {
    const files = await readdir(join(this.#folder, part));
    return files
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -'.json'.length))
      .sort();
  }

  /** Nothing, when the file is gone since it was listed. */
  async #read<T extends Letter>(part: string, name: string): Promise<T[]> {
    try {
      return [JSON.parse(await readFile(join(this.#folder, part, `${name}.json`), 'utf8')) as T];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw new Error(`The letter ${name} in ${part} of the spool folder cannot be read.`, { cause: error });
    }
  }

  async #write(part: string, name: string, letter: Letter): Promise<void> {
    const draft = join(this.#folder, 'writing', `${name}-${process.pid}.json`);
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(letter));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, join(this.#folder, part, `${name}.json`));
    await syncFolder(join(this.#folder, part));
  }
}

/** Without this the rename itself may be lost in a power cut. Not every system lets a folder be opened. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EINVAL', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** For tests and throw-away senders: nothing survives the process. */
export class MemorySpool implements Spool {
  readonly #pending = new Map<string, Letter>();
  readonly #dead = new Map<string, DeadLetter>();
  #count = 0;

  async keep(letter: Letter): Promise<string> {
    this.#count += 1;
    const name = `letter-${this.#count}`;
    this.#pending.set(name, letter);
    return name;
  }

  async forget(name: string): Promise<void> {
    this.#pending.delete(name);
    this.#dead.delete(name);
  }

  async bury(name: string, letter: Letter, attempts: number, failedAt: string, failure: Failure): Promise<void> {
    this.#pending.delete(name);
    this.#dead.set(name, { ...letter, id: name, attempts, failedAt, failure });
  }

  async pending() {
    return [...this.#pending].map(([name, letter]) => ({ name, letter }));
  }

  async dead(): Promise<DeadLetter[]> {
    return [...this.#dead.values()];
  }
}
