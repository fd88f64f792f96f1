import { hash } from 'node:crypto';
import { isObject, type Json } from '../../../terms.ts';
import { decimal } from '../../canonical/reservation.ts';
import { isNothing } from '../compare.ts';
import {
  type HeldFiles,
  type HeldInFile,
  type HeldRow,
  type Holdings,
  type Outcome,
  Unreadable,
} from '../destination.ts';
import { contentOf } from '../expected.ts';
import type { Message } from '../message.ts';
import { formatOf } from './erase.ts';
import type { FileStore } from './file-store.ts';

/**
 * Reads files back, each once, and sets hashes of their rows aside: files have no order by record. Before contents are compared, files that
 * are new are read; if one changed or vanished, all are read again.
 */
export function lakeHoldings(store: FileStore, held: HeldFiles, failure: (error: unknown) => Outcome): Holdings {
  const late = new AbortController().signal;

  async function readable<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Unreadable) throw error;
      const outcome = failure(error);
      throw new Unreadable(outcome.kind === 'delivered' ? '' : outcome.message.replace(/^Writing/, 'Reading'));
    }
  }

  async function messagesIn(name: string): Promise<readonly Message[]> {
    const format = formatOf(name);
    const file = await store.read(name, late);
    if (format === undefined || file === undefined) return [];
    try {
      return (await format.read(file.bytes)).filter((row) => row !== '').map((row) => format.message(row));
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError)
        // Whoever may see this brand need not know the one whose folder it is.
        throw new Unreadable(`The file ${name.replace(/brand=[^/]*/, 'brand=…')} is not as it was written.`);
      throw error;
    }
  }

  const refresh = () =>
    readable(async () => {
      const files = (await store.list('', late)).filter(({ name }) => formatOf(name) !== undefined);
      const states = new Map(files.map(({ name, size, modifiedAtMs }) => [name, `${size} ${modifiedAtMs}`]));
      let known = await held.files();
      if ([...known].some(([name, state]) => states.get(name) !== state)) {
        await held.clear();
        known = new Map();
      }
      for (const { name } of files.toSorted((a, b) => a.modifiedAtMs - b.modifiedAtMs)) {
        if (known.has(name)) continue;
        await held.add(name, states.get(name) ?? '', (await messagesIn(name)).map(rowOf));
      }
    });

  return {
    forget: held.clear,
    async rows(of, ids, what) {
      await refresh();
      const rows = await held.find(of, ids);
      if (what === 'digests') return rows;
      const read: HeldRow[] = [];
      for (const [file, own] of Map.groupBy(rows, (row) => row.file)) {
        const messages = await readable(() => messagesIn(file));
        for (const { place, digest: _, ...row } of own) {
          const message = messages[place];
          const isSame = message?.data.id === row.id && message.version === row.version;
          read.push({ ...row, content: isSame ? contentOf(message) : 'unreadable' });
        }
      }
      return read;
    },
    digestOf: ({ message }) => digest(message),
    ids: held.ids,
    async integrations() {
      await refresh();
      return held.integrations();
    },
    close: async () => {},
  };
}

function rowOf(message: Message, place: number): HeldInFile {
  const { type, integration, epoch = 1, version, data, removed = false } = message;
  return { type, integration, id: data.id, epoch, version, isRemoved: removed, digest: digest(message), place };
}

const digest = (message: Message): string => hash('sha256', text(contentOf(message)));

/** The same for contents without a difference: sorted, without what is absent, numbers as decimals. */
function text(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(text).join()}]`;
  if (!isObject(value)) return JSON.stringify(typeof value === 'number' ? decimal(String(value)) : value);
  const names = Object.keys(value).filter((name) => !isNothing(value[name]));
  return `{${names
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${text(value[name] ?? null)}`)
    .join()}}`;
}
