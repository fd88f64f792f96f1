import { z } from 'zod';
import { caText, placeText, plainName } from '../../warehouse/settings.ts';

export const settingsSchema = z
  .strictObject({
    url: placeText('sqlserver://user:password@host:1433/database', 'sqlserver', 'mssql'),
    schema: plainName('The schema of our tables; it is created if it does not exist.').default('innbound'),
    tenant: z
      .string()
      .regex(/^[\w.-]+$/, { error: 'must be the id or domain of a tenant' })
      .optional()
      .describe(
        'The tenant of Microsoft Entra: user and password of url are then id and secret of a service principal, as Fabric needs.',
      ),
    ca: caText(),
  })
  .meta({ title: 'sqlserver', description: 'Tables in SQL Server, Azure SQL, Synapse or Fabric.' });

export type Settings = z.infer<typeof settingsSchema>;
