import { PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core';
import { useSchema } from '../../editor/checking.ts';
import { capital, words } from '../../parts/format.ts';
import { type AuthField, authForms } from './auth.ts';
import type { Brand } from './brand.ts';

/** Every authentication method of the schema with its own fields; fields that have a default are folded away. */
export function AuthFields({ brand, onChange }: { brand: Brand; onChange: (some: Partial<Brand>) => void }) {
  const forms = authForms(useSchema('integration'));
  const form = forms.find(({ title }) => title === brand.auth);
  const typed = brand.authFields;
  const type = (name: string, value: string) => onChange({ authFields: { ...typed, [name]: value } });
  const draw = (field: AuthField) => (
    <Field key={field.name} field={field} value={typed[field.name] ?? field.usual ?? ''} onType={type} />
  );
  return (
    <>
      <Select
        label="Authentication"
        value={brand.auth}
        onChange={(auth) => onChange({ auth: auth ?? 'bearer', authFields: {} })}
        data={forms.map(({ title }) => ({ value: title, label: names[title] ?? capital(words(title)) }))}
        description={form?.description}
        allowDeselect={false}
      />
      {form && (
        <>
          <div className="fields">{form.fields.filter(({ usual }) => usual === undefined).map(draw)}</div>
          {form.fields.some(({ usual }) => usual !== undefined) && (
            <details className="fold">
              <summary>Advanced</summary>
              <div className="fields">{form.fields.filter(({ usual }) => usual !== undefined).map(draw)}</div>
            </details>
          )}
        </>
      )}
    </>
  );
}

const names: Readonly<Record<string, string>> = {
  bearer: 'Bearer token',
  api_key: 'API key',
  basic: 'User and password (HTTP Basic)',
  'oauth2, client_credentials': 'OAuth 2, client credentials',
  'oauth2, authorization_code': 'OAuth 2, authorization code (needs consent)',
  hmac: 'Signed requests (HMAC)',
  custom: 'Values in headers, query or body',
  none: 'None',
};

function Field(props: { field: AuthField; value: string; onType: (name: string, value: string) => void }) {
  const { field, value } = props;
  const { name, label, required, secret, form } = field;
  const change = (event: { currentTarget: { value: string } }) => props.onType(name, event.currentTarget.value);
  const description = secret ? `${field.description} Stored encrypted, never shown again.` : field.description;
  const common = { label, description, required, value };
  if (form === 'choice') {
    const choose = (chosen: string | null) => props.onType(name, chosen ?? '');
    return <Select {...common} data={[...field.choices]} onChange={choose} allowDeselect={false} />;
  }
  if (form === 'switch') {
    return (
      <Switch
        label={label}
        description={description}
        checked={value === 'true'}
        onChange={(event) => props.onType(name, String(event.currentTarget.checked))}
      />
    );
  }
  if (form === 'pairs') {
    return <Textarea {...common} onChange={change} autosize minRows={2} placeholder="Name: value, one per line" />;
  }
  if (secret) return <PasswordInput {...common} onChange={change} autoComplete="off" />;
  return <TextInput {...common} onChange={change} type={name.endsWith('_url') ? 'url' : 'text'} />;
}
