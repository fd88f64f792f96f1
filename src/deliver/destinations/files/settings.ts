import { z } from 'zod';

export const settingsSchema = z
  .strictObject({
    path: z.string().min(1).describe('The folder to write into; a relative one is under the workspace.'),
    format: z.enum(['ndjson', 'parquet']).default('ndjson').describe('One JSON object a line, or Parquet.'),
  })
  .meta({ title: 'files', description: 'Files partitioned by date, for any analytic engine.' });

export type Settings = z.infer<typeof settingsSchema>;
