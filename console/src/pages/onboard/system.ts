import type { WrittenAuth } from './auth.ts';
import type { Brand } from './brand.ts';

/** The integration of a shipped system: complete but for what the brand and its credentials are. */

const reference = /\$\{env:(\w+)\}/g;

export const baseUrlOf = (integration: string): string => /^ *base_url: (\S+)/m.exec(integration)?.[1] ?? '';

/** What to ask for: each variable by its part after the system's name, and how it is called. */
export function credentialsOf(integration: string): { readonly key: string; readonly label: string }[] {
  const system = `${(/^connector: (\S+)/m.exec(integration)?.[1] ?? '').toUpperCase().replaceAll('-', '_')}_`;
  const names = new Set([...integration.matchAll(reference)].map(([, name = '']) => name));
  names.delete(`${system}PROPERTY`);
  return [...names].map((key) => {
    const words = key
      .replace(system, '')
      .toLowerCase()
      .replaceAll('_', ' ')
      .replace('api', 'API')
      .replace(/\bid\b/, 'ID');
    return { key, label: words.charAt(0).toUpperCase() + words.slice(1) };
  });
}

/** The document of the brand, with a stored secret in place of each variable. */
export function systemDocument(brand: Brand): { readonly text: string; readonly secrets: WrittenAuth['secrets'] } {
  const secrets = new Map<string, string>();
  const { name, timezone, country, baseUrl, brandId } = brand;
  const filled = brand.integration.replace(reference, (_, key: string) => {
    if (key.endsWith('_PROPERTY')) return JSON.stringify(brandId);
    const secret = `${name}-${key.toLowerCase().replaceAll('_', '-')}`;
    secrets.set(secret, brand.authFields[key]?.trim() ?? '');
    return `\${secret:${secret}}`;
  });
  const section = (key: string) => new RegExp(`^${key}:.*\\n(?:[ \\t#].*\\n)*`, 'm');
  const text = filled
    .replace(/^integration: .*/m, `integration: ${name}`)
    .replace(/^(brand_id: .*?) *#.*/m, '$1')
    .replace(/^timezone: .*/m, `timezone: ${timezone}${country === '' ? '' : `\ncountry: ${country}`}`)
    .replace(/^( *base_url: )\S+.*/m, `$1${baseUrl}`)
    .replace(section('pull'), (pull) => (brand.pulls ? `paused: true\n${pull}` : ''))
    .replace(section('push'), '');
  const deliver = `[${brand.deliver.join(', ')}]`;
  return {
    text: `${text}push: { enabled: ${brand.pushes} }\ndeliver: ${deliver}\n${brand.preview && brand.deliver.length > 0 ? `preview: ${deliver}\n` : ''}`,
    secrets: brand.pulls ? [...secrets].map(([secret, value]) => ({ name: secret, value })) : [],
  };
}
