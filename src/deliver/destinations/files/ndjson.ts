import { encodeMessage } from '../../message.ts';
import type { Format } from './format.ts';

/** One message a line. */
export const ndjson: Format<string> = {
  extension: '.ndjson',
  encode({ message }) {
    const row = encodeMessage(message);
    return { row, size: row.length + 1 };
  },
  file: (rows) => `${rows.join('\n')}\n`,
};
