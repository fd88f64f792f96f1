import { z } from 'zod';
import { instant, notFound, ok, type Route, route } from '../route.ts';

export interface SecretPorts {
  readonly list: () => Promise<
    readonly {
      readonly name: string;
      readonly updated_at: Date;
      readonly used_by: readonly { readonly kind: string; readonly name: string }[];
    }[]
  >;
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
      response: z.object({
        items: z.array(
          z.object({
            name: z.string(),
            updated_at: instant,
            used_by: z
              .array(z.object({ kind: documentKind, name: z.string() }))
              .describe('The documents in force that refer to it.'),
          }),
        ),
      }),
      handle: async () => ok({ items: await ports.list() }),
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
