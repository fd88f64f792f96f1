import { z } from 'zod';
import type { Pool } from '../../../core/store/db/pool.ts';
import { currentDocuments } from '../../../core/store/documents/documents.ts';
import { deleteSecret, listSecrets } from '../../../core/store/documents/secrets.ts';
import { putSecret } from '../../operations/resume.ts';
import { instant } from '../../store/answers.ts';
import { namePageQuery, pagedByName, pageOf } from '../paging.ts';
import { admin, type Node, ok, okIf, type Route } from '../route.ts';
import { kinds } from './documents.ts';

const nameParam = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,99}$/)
    .refine((name) => !/^(innbound\.|typed_)/.test(name), 'this prefix is reserved for the service'),
});

/** Write-only: no route and no other interface returns a secret. */
export function secretRoutes({ runtime }: Node): Route[] {
  const { pool } = runtime;
  return [
    admin('GET /secrets', {
      id: 'secrets.list',
      summary: 'Names of the stored secrets',
      query: z.strictObject(namePageQuery),
      response: pageOf(
        z.object({
          name: z.string(),
          updated_at: instant,
          used_by: z
            .array(z.object({ kind: kinds, name: z.string() }))
            .describe('The documents in force that refer to it.'),
        }),
      ),
      handle: async ({ query }) => {
        const { items, next_cursor } = pagedByName(await listSecrets(pool), ({ name }) => name, query);
        const users = await secretUsers(pool);
        return ok({ items: items.map((one) => ({ ...one, used_by: users.get(one.name) ?? [] })), next_cursor });
      },
    }),
    admin('PUT /secrets/{name}', {
      id: 'secrets.put',
      summary: 'Store an encrypted secret for documents to refer to',
      params: nameParam,
      body: z.strictObject({ value: z.string().min(1).max(16_384) }),
      response: z.object({ name: z.string() }),
      handle: async ({ params, body }) => {
        await putSecret(runtime, params.name, body.value);
        return ok({ name: params.name });
      },
    }),
    admin('DELETE /secrets/{name}', {
      id: 'secrets.delete',
      summary: 'Delete a secret',
      params: nameParam,
      response: z.object({ deleted: z.literal(true) }),
      handle: async ({ params: { name } }) => okIf(await deleteSecret(pool, name), { deleted: true }, `secret ${name}`),
    }),
  ];
}

/** The documents in force that refer to each secret. */
async function secretUsers(pool: Pool): Promise<Map<string, { kind: string; name: string }[]>> {
  const users = new Map<string, { kind: string; name: string }[]>();
  for (const { kind, name, body } of await currentDocuments(pool)) {
    const references = JSON.stringify(body).matchAll(/\$\{secret:([^}]*)\}/g);
    for (const secret of new Set([...references].map(([, named = '']) => named))) {
      users.set(secret, [...(users.get(secret) ?? []), { kind, name }]);
    }
  }
  return users;
}
