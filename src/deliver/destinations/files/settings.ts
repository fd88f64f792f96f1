import { z } from 'zod';
import { sizeText } from '../../../documents/scalars.ts';
import { sizeBytes } from '../../../documents/size.ts';

export const settingsSchema = z
  .strictObject({
    path: z.string().min(1).describe('The folder to write into; a relative one is under the workspace.'),
    format: z
      .enum(['ndjson', 'parquet'])
      .default('ndjson')
      .describe('`ndjson`: one JSON object a line. `parquet`: typed columns, for analytic engines.'),
    file_size: sizeText('1KiB', '1GiB')
      .default('1MiB')
      .describe('A file that has reached this size is left alone and the next one begun.'),
  })
  .meta({ title: 'files', description: 'Files partitioned by date, for any analytic engine.' });

export type Settings = z.infer<typeof settingsSchema>;

export const fileBytes = (settings: Settings): number => sizeBytes(settings.file_size);
