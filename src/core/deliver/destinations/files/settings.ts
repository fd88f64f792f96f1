import { z } from 'zod';
import { lakeShape } from '../../lake/settings.ts';

export const settingsSchema = z
  .strictObject({
    path: z
      .string()
      .min(1)
      .meta({ folder: true })
      .describe('The folder to write into; a relative one is under the workspace.'),
    ...lakeShape,
  })
  .meta({ title: 'files', description: 'Files partitioned by date, for any analytic engine.' });

export type Settings = z.infer<typeof settingsSchema>;
