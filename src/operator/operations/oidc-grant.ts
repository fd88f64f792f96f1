import type { OidcSettings } from '../../core/documents/workspace-settings.ts';
import type { Json } from '../../terms.ts';

type Claims = { readonly [claim: string]: Json | undefined };

/** The role and brands (null: every one) that the verified claims of a person grant. Anything they do not state is not granted. */
export function grantOf(settings: OidcSettings, claims: Claims, integrations: readonly string[]) {
  const name = nameOf(claims);
  const refused = (why: string) => ({ kind: 'refused', name, why }) as const;
  const { roles, brands, acr_values: strengths } = settings;
  if (strengths.length > 0 && !strengths.includes(String(own(claims, 'acr')))) {
    return refused('the sign-in was weaker than sign_in.oidc.acr_values requires');
  }
  const said = textsOf(own(claims, roles.claim));
  const role = (['admin', 'operator', 'viewer'] as const).find((one) =>
    roles[one].some((value) => said.includes(value)),
  );
  if (role === undefined) return refused(`the claim ${roles.claim} gives no role`);
  const granted = { kind: 'granted', name, role } as const;
  if (brands === undefined) return { ...granted, integrations: null };
  const listed = textsOf(own(claims, brands.claim));
  if (listed.some((value) => brands.all.includes(value))) return { ...granted, integrations: null };
  const known = listed.filter((value) => integrations.includes(value));
  if (known.length === 0) return refused(`the claim ${brands.claim} names no integration`);
  return { ...granted, integrations: known };
}

const own = (claims: Claims, name: string): Json | undefined =>
  Object.hasOwn(claims, name) ? claims[name] : undefined;

/** A list of texts, or one text with values separated by spaces, as providers write it. */
function textsOf(claim: Json | undefined): string[] {
  if (typeof claim === 'string') return claim.split(/\s+/).filter((value) => value !== '');
  return Array.isArray(claim) ? claim.filter((value) => typeof value === 'string') : [];
}

/** For the audit log and the console. People are recognised by their subject, never by this. */
function nameOf(claims: Claims): string {
  for (const claim of ['preferred_username', 'email', 'name', 'sub']) {
    const value = own(claims, claim);
    if (typeof value === 'string' && value.trim() !== '') {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes control characters
      return value.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '').slice(0, 100);
    }
  }
  return 'unnamed';
}
