import { z } from 'zod';
import { namePageQuery, pagedByName, pageOf } from '../paging.ts';
import { instant, notFound, ok, type Route, route } from '../route.ts';

interface SecretUser {
  readonly kind: string;
  readonly name: string;
}

export interface SecretPorts {
  readonly list: () => Promise<readonly { readonly name: string; readonly updated_at: Date }[]>;
  /** The documents in force that refer to these secrets, by the secret's name. */
  readonly users: (names: readonly string[]) => Promise<ReadonlyMap<string, readonly SecretUser[]>>;
  readonly put: (name: string, value: string) => Promise<void>;
  readonly remove: (name: string) => Promise<boolean>;
}

const nameParam = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,99}$/)
    .refine((name) => !/^(innbound\.|typed_)/.test(name), 'this prefix is reserved for the service'),
});
const documentKind = z.enum(['connector', 'integration', 'destination', 'workspace']);

/** Write-only: no route and no other interface returns a secret. */
export function secretRoutes(ports: SecretPorts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/secrets',
      id: 'secrets.list',
      summary: 'Names of the stored secrets',
      tag: 'secrets',
      role: 'admin',
      scope: 'all',
      query: z.strictObject(namePageQuery),
      response: pageOf(
        z.object({
          name: z.string(),
          updated_at: instant,
          used_by: z
            .array(z.object({ kind: documentKind, name: z.string() }))
            .describe('The documents in force that refer to it.'),
        }),
      ),
      handle: async ({ query }) => {
        const { items, next_cursor } = pagedByName(await ports.list(), query);
        const users = await ports.users(items.map(({ name }) => name));
        return ok({ items: items.map((one) => ({ ...one, used_by: users.get(one.name) ?? [] })), next_cursor });
      },
    }),
    route({
      method: 'PUT',
      path: '/secrets/{name}',
      id: 'secrets.put',
      summary: 'Store an encrypted secret for documents to refer to',
      tag: 'secrets',
      role: 'admin',
      scope: 'all',
      params: nameParam,
      body: z.strictObject({ value: z.string().min(1).max(16_384) }),
      response: z.object({ name: z.string() }),
      handle: async ({ params, body }) => {
        await ports.put(params.name, body.value);
        return ok({ name: params.name });
      },
    }),
    route({
      method: 'DELETE',
      path: '/secrets/{name}',
      id: 'secrets.delete',
      summary: 'Delete a secret',
      tag: 'secrets',
      role: 'admin',
      scope: 'all',
      params: nameParam,
      response: z.object({ deleted: z.literal(true) }),
      handle: async ({ params }) =>
        (await ports.remove(params.name)) ? ok({ deleted: true }) : notFound(`secret ${params.name}`),
    }),
  ];
}
