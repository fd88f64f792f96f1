import { z } from 'zod';
import { httpUrl } from './scalars.ts';

const groups = (role: string) =>
  z.array(z.string().min(1)).default([]).describe(`Values of the claim that give the role ${role}.`);

/** OpenID Connect: the identity provider says who a person is; this says what its words mean here. */
export const oidcSchema = z.strictObject({
  issuer: httpUrl().describe('The provider’s issuer URL; its metadata is read from /.well-known/openid-configuration.'),
  client_id: z.string().min(1).max(200).describe('The client that was registered at the provider.'),
  client_secret: z
    .string()
    .min(1)
    .optional()
    .meta({ writeOnly: true })
    .describe('Its secret; none for a public client.'),
  label: z.string().min(1).max(60).default('Sign in with your company').describe('The text of the button.'),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/))
    .default(['openid', 'profile', 'email'])
    .describe('What is requested; openid is always among them.'),
  roles: z
    .strictObject({
      claim: z.string().min(1).default('groups').describe('The claim of the ID token that decides the role.'),
      viewer: groups('viewer'),
      operator: groups('operator'),
      admin: groups('admin'),
    })
    .describe('Who gets which role; the highest one counts. A person without a role is refused.'),
  brands: z
    .strictObject({
      claim: z.string().min(1).describe('The claim that lists integrations.'),
      all: z.array(z.string().min(1)).default([]).describe('Values that mean every integration.'),
    })
    .optional()
    .describe(
      'Limits people to integrations. Without it everybody sees all; with it, a person without the claim is refused.',
    ),
  acr_values: z
    .array(z.string().min(1))
    .default([])
    .describe('Accepted strengths of the sign-in (claim acr), such as one with a second factor. Empty: any.'),
});

export type OidcSettings = z.infer<typeof oidcSchema>;
