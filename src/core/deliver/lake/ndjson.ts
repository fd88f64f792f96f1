import { parseForeignJson } from '../../../kit/json.ts';
import { reservationWithoutMentions } from '../../canonical/mentions.ts';
import { encodeMessage, type Message } from '../message.ts';
import { type Format, guestsAfter, isOlderThan } from './format.ts';

/** One message per line. */
export const ndjson: Format<string> = {
  extension: '.ndjson',
  encode({ message }) {
    const row = encodeMessage(message);
    return { row, size: row.length + 1 };
  },
  file: (rows) => `${rows.join('\n')}\n`,
  read: async (bytes) => new TextDecoder().decode(bytes).trimEnd().split('\n'),
  message: (line) => parseForeignJson(line) as unknown as Message,
  erase(line, erasure) {
    // Most lines are about other records; parsing them all would be slow.
    if (!line.includes(JSON.stringify(erasure.message.data.id))) return undefined;
    const message = parseForeignJson(line) as unknown as Message;
    const { data } = message;
    if (!isOlderThan({ ...message, epoch: message.epoch, id: data.id }, erasure)) return undefined;
    if (message.type === 'guest') {
      return Object.keys(data).length > 1 ? encodeMessage({ ...message, data: { id: data.id } }) : undefined;
    }
    const guests = guestsAfter(data.guests ?? [], erasure);
    // Further fields of the partner may repeat guest data under any name.
    const kept = reservationWithoutMentions(data, erasure.erased ?? []);
    const { extra, ...rest } = kept;
    if (guests === undefined && extra === undefined && kept === data) return undefined;
    return encodeMessage({ ...message, data: { ...rest, ...(guests && { guests }) } });
  },
};
