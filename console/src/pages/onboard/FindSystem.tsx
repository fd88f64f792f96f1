import { Button, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { Answer } from '../../api/client.ts';
import { useApi } from '../../api/query.tsx';
import { useSettled } from '../../editor/checking.ts';
import type { Brand } from './brand.ts';
import { baseUrlOf } from './system.ts';

type Connector = Answer<'connectors.list'>['items'][number];
type System = NonNullable<Connector['system']>;

const bases: Readonly<Record<System['basis'], string>> = {
  live: 'Tested against a live property',
  vendor: 'Made from the vendor’s documentation',
  clients: 'Made from public clients of its API',
};

const access: Readonly<Record<string, string>> = {
  api_key: 'a key',
  basic: 'user name and password',
  bearer: 'a token',
  custom: 'credentials in the request',
  login: 'a login call',
  oauth2: 'OAuth 2',
};

const lists = { changes: 'changes since the last poll', stays: 'stays by date', queue: 'a queue' };

/** The partner’s system by its name: a shipped connector, or one of the workspace. */
export function FindSystem(props: { brand: Brand; onChange: (some: Partial<Brand>) => void; onNext: () => void }) {
  const { brand, onChange } = props;
  const words = useSettled(brand.search, 200);
  const { data } = useApi('connectors.list', words === '' ? {} : { search: words }, { keep: true });
  const items = data?.items ?? [];
  const isNamed = words === '' || items.some(({ name }) => name === brand.connector) || isMeant(items, words);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (brand.connector !== '') props.onNext();
  };
  const choose = ({ name, system }: Connector) =>
    onChange({
      connector: name,
      integration: system?.integration ?? '',
      ...(system && {
        baseUrl: baseUrlOf(system.integration),
        pulls: /^pull:/m.test(system.integration),
        pushes: system.events === 'webhooks',
      }),
    });
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput
        label="System"
        description="its name, an earlier one, its vendor, or what it is sold for"
        placeholder="Hostaway, OPERA, holiday parks"
        value={brand.search}
        onChange={(event) => onChange({ search: event.currentTarget.value, connector: '', integration: '' })}
      />
      {data && !isNamed && (
        <p>
          {items.length === 0 ? 'No connector is called so.' : 'No connector is called so; these are similar.'} An
          answer of the system’s API is enough:{' '}
          <button
            type="button"
            className="link"
            onClick={() => onChange({ way: 'sample', newConnector: nameOf(brand.search) })}
          >
            paste one
          </button>
          , or open the <Link to="/studio">mapping studio</Link>.
        </p>
      )}
      <ul className="systems" aria-label="Systems">
        {items.map((one) => (
          <li key={one.name}>
            <label>
              <input type="radio" name="system" checked={brand.connector === one.name} onChange={() => choose(one)} />
              <span>
                <b>{one.title ?? one.name}</b>
                <span className="muted"> {one.shipped ? '' : 'in use'}</span>
                <span className="small muted">{one.system ? gives(one.system) : (one.description ?? '')}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
      <div>
        <Button type="submit" disabled={brand.connector === ''}>
          Next
        </Button>
      </div>
    </form>
  );
}

function gives({ vendor, market, auth, list, single, events, fields, basis }: System): string {
  const feeds = [list && lists[list], single && 'single reservations', events].filter(Boolean).join(', ');
  return `${vendor}: ${market}. Gives ${feeds}; ${fields.length} fields.${auth === undefined ? '' : ` Access by ${access[auth] ?? auth}.`} ${bases[basis]}.`;
}

const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

/** Whether a name, a vendor or a market of the list contains the words; if none does, the service has listed the nearest names. */
const isMeant = (items: readonly Connector[], words: string): boolean =>
  items.some(({ name, title, system }) =>
    [name, title ?? '', system?.vendor ?? '', system?.market ?? '', ...(system?.aliases ?? [])].some(
      (one) => plain(one) !== '' && (plain(one).includes(plain(words)) || plain(words).includes(plain(one))),
    ),
  );

const nameOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
