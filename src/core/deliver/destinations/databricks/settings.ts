import { z } from 'zod';
import { crossChecked } from '../../../documents/checked.ts';
import { httpUrl, secretText } from '../../../documents/scalars.ts';
import { plainName } from '../../warehouse/settings.ts';

export const settingsSchema = crossChecked(
  z
    .strictObject({
      host: z
        .string()
        .regex(/^[a-z0-9.-]+$/, { error: 'must be a host such as dbc-a1b2c3d4-e5f6.cloud.databricks.com' })
        .describe('The host of the workspace.'),
      token: secretText().optional().describe('A personal access token; or client_id and client_secret.'),
      client_id: z.string().min(1).optional().describe('The application id of a service principal.'),
      client_secret: secretText().optional().describe('Its OAuth secret.'),
      warehouse_id: z.string().min(1).describe('The SQL warehouse that runs the statements.'),
      catalog: plainName('The catalog.'),
      schema: plainName('The schema of our tables; it is created if it does not exist.').default('innbound'),
      endpoint: httpUrl()
        .optional()
        .describe('The address of a private link or a proxy; by default https:// and the host.'),
    })
    .meta({ title: 'databricks', description: 'Tables in Databricks, through a SQL warehouse.' }),
  ({ token, client_id, client_secret }, report) => {
    if (token === undefined && (client_id === undefined || client_secret === undefined)) {
      report({ message: 'needs token, or client_id and client_secret' });
    }
  },
);

export type Settings = z.infer<typeof settingsSchema>;
