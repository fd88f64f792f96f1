import { z } from 'zod';
import { authSchema } from '../../../documents/auth.ts';
import { headerName, httpUrl } from '../../../documents/scalars.ts';

export const settingsSchema = z
  .strictObject({
    url: httpUrl().describe('Where changes are sent.'),
    method: z.enum(['POST', 'PUT', 'PATCH']).default('POST').describe('The method of the request.'),
    headers: z.record(headerName(), z.string()).default({}).describe('Further headers.'),
    auth: authSchema.default({ type: 'none' }).describe('The credentials of every request.'),
  })
  .meta({ title: 'http', description: 'Any HTTP API that takes JSON.' });

export type Settings = z.infer<typeof settingsSchema>;
