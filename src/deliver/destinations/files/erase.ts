import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Guest } from '../../../canonical/reservation.ts';
import { parseJson } from '../../../kit/json.ts';
import type { Delivery, Message } from '../../message.ts';
import { encodeMessage } from '../../message.ts';
import { replaceFile } from './folder.ts';

/**
 * Takes an erased guest out of the lines that were written before, in every file of the folder, each put in place anew. The
 * whole folder is read, twice at least: another node may have put an older state of its growing file over the first pass.
 */
export async function eraseFromLines(root: string, erased: readonly Delivery[], deadlineAtMs: number): Promise<void> {
  for (let pass = 1, clean = false; !clean || pass <= 2; pass++) {
    clean = true;
    for (const file of await lineFiles(root)) {
      if (Date.now() > deadlineAtMs) throw new RangeError('the folder is too large to erase from in time');
      if (await eraseFromFile(file, erased)) clean = false;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function lineFiles(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true });
  return names
    .filter((name) => name.endsWith('.ndjson') && !path.basename(name).startsWith('.'))
    .map((name) => path.join(root, name));
}

async function eraseFromFile(file: string, erased: readonly Delivery[]): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => '');
  if (!erased.some(({ message }) => text.includes(JSON.stringify(message.data.id)))) return false;
  let changed = false;
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const about = erased.find(({ message }) => line.includes(JSON.stringify(message.data.id)));
      if (about === undefined) return line;
      const stripped = strip(parseJson(line) as unknown as Message, about);
      if (stripped === undefined) return line;
      changed = true;
      return encodeMessage(stripped);
    });
  if (changed) await replaceFile(file, `${lines.join('\n')}\n`);
  return changed;
}

/** The message without the guest; undefined where it is not about this record, is no older, or holds nothing of the guest. */
function strip(message: Message, { message: erasure, erased }: Delivery): Message | undefined {
  const { type, integration, version, data } = message;
  if (type !== erasure.type || integration !== erasure.integration || data.id !== erasure.data.id) return undefined;
  if (version >= erasure.version) return undefined;
  if (type === 'guest') return Object.keys(data).length > 1 ? { ...message, data: { id: data.id } } : undefined;
  const kept = (data.guests ?? []).filter(
    (guest) => erased !== undefined && !erased.some((one) => sharesKey(one, guest)),
  );
  return kept.length === (data.guests?.length ?? 0) ? undefined : { ...message, data: { ...data, guests: kept } };
}

const sharesKey = (a: Guest, b: Guest): boolean =>
  (a.guest_id !== undefined && a.guest_id === b.guest_id) ||
  (a.email !== undefined && a.email === b.email) ||
  (a.phone !== undefined && a.phone === b.phone);
