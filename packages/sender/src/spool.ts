import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeadLetter, Letter } from './letter.ts';

/** Where events are kept until the receiver accepts them. */
export interface Spool {
  /** Stores an event before its first attempt. Returns its name in the spool. */
  keep(letter: Letter): Promise<string>;
  /** Removes an accepted event, or a dead letter that is dropped. */
  forget(name: string): Promise<void>;
  /** Moves an event to the dead letters. */
  bury(letter: DeadLetter): Promise<void>;
  /** Events whose attempts a crash interrupted, oldest first. */
  pending(): Promise<{ readonly name: string; readonly letter: Letter }[]>;
  /** Oldest first. */
  dead(): Promise<DeadLetter[]>;
}

/**
 * A folder with one file per event, in `pending/` and `dead/`. A file is written under a temporary name, synced, and renamed
 * so that a crash leaves a complete file or none. Names begin with time and counter, so that sorting them gives the
 * order of the `send` calls. If two processes share the folder, an event may be sent twice, with the same event id.
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
    await this.#remove('pending', name);
    await this.#remove('dead', name);
  }

  async bury(letter: DeadLetter): Promise<void> {
    await this.#write('dead', letter.id, letter);
    await this.#remove('pending', letter.id);
  }

  async pending() {
    const buried = new Set(await this.#names('dead'));
    const waiting: { name: string; letter: Letter }[] = [];
    for (const name of await this.#names('pending')) {
      // A crash between the two steps of bury leaves both files: the dead letter wins.
      if (buried.has(name)) await this.#remove('pending', name);
      else for (const letter of await this.#read<Letter>('pending', name)) waiting.push({ name, letter });
    }
    return waiting;
  }

  async dead(): Promise<DeadLetter[]> {
    const letters: DeadLetter[] = [];
    for (const name of await this.#names('dead')) letters.push(...(await this.#read<DeadLetter>('dead', name)));
    return letters;
  }

  async #remove(part: string, name: string): Promise<void> {
    await rm(join(this.#folder, part, `${name}.json`), { force: true });
  }

  async #names(part: string): Promise<string[]> {
    const files = await readdir(join(this.#folder, part));
    return files
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -'.json'.length))
      .sort();
  }

  /** Undefined if the file was removed after it was listed. */
  async #read<T extends Letter>(part: string, name: string): Promise<T[]> {
    try {
      return [JSON.parse(await readFile(join(this.#folder, part, `${name}.json`), 'utf8')) as T];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw new Error(`The event ${name} in ${part} of the spool folder cannot be read.`, { cause: error });
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

/** Without this, a power cut may lose the rename. Not every system can open a folder. */
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

/** In memory: for tests and temporary senders. */
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

  async bury(letter: DeadLetter): Promise<void> {
    this.#pending.delete(letter.id);
    this.#dead.set(letter.id, letter);
  }

  async pending() {
    return [...this.#pending].map(([name, letter]) => ({ name, letter }));
  }

  async dead(): Promise<DeadLetter[]> {
    return [...this.#dead.values()];
  }
}
