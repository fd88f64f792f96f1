import { type AuthForm, type WrittenAuth, writeAuth } from './auth.ts';
import { type Brand, textOf } from './brand.ts';
import { systemDocument } from './system.ts';

/** The document, and the credentials to store for it. */
export function documentOf(
  brand: Brand,
  forms: readonly AuthForm[],
): { readonly text: string; readonly secrets: WrittenAuth['secrets'] } {
  if (brand.integration !== '') return systemDocument(brand);
  const form = brand.pulls ? forms.find(({ title }) => title === brand.auth) : undefined;
  const auth = form && writeAuth(form, brand.authFields, brand.name);
  return { text: textOf(brand, auth), secrets: auth?.secrets ?? [] };
}
