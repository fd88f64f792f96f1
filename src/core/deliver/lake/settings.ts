import { z } from 'zod';
import { sizeText } from '../../documents/scalars.ts';
import { sizeBytes } from '../../documents/units.ts';

/** The settings that all lakes share. */
export const lakeShape = {
  format: z
    .enum(['ndjson', 'parquet'])
    .default('ndjson')
    .describe('`ndjson`: one JSON object per line. `parquet`: typed columns, for analytic engines.'),
  file_size: sizeText('1KiB', '64MiB')
    .default('1MiB')
    .describe('When a file has reached this size, the next one is started.'),
};

export type LakeSettings = z.infer<z.ZodObject<typeof lakeShape>>;

export const fileBytes = ({ file_size }: LakeSettings): number => sizeBytes(file_size);
