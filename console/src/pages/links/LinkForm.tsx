import { Autocomplete, Button, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { languages } from '../../../partner/texts.ts';
import { call } from '../../api/client.ts';
import { useAct } from '../../api/query.tsx';
import { Notice } from '../../parts/basics.tsx';
import { Copyable } from '../../parts/data.tsx';

const zones = Intl.supportedValuesOf('timeZone');
const asked = { both: ['push', 'pull'], push: ['push'], pull: ['pull'] } as const;

/** Creates an onboarding link, of a brand that exists or, without one, of a new brand. Its address is shown once. */
export function LinkForm({ integration }: { integration?: string | undefined }) {
  const [partner, setPartner] = useState('');
  const [name, setName] = useState('');
  const [brandId, setBrandId] = useState('');
  const [timezone, setTimezone] = useState('');
  const [country, setCountry] = useState('');
  const [asks, setAsks] = useState<keyof typeof asked>('both');
  const [language, setLanguage] = useState('en');
  const [days, setDays] = useState(14);
  const [many, setMany] = useState(false);
  const [url, setUrl] = useState<string>();
  const create = useAct(
    () =>
      call('onboarding.create', {
        integration: integration ?? name,
        partner,
        asks: [...asked[asks]],
        language: language as 'en',
        days,
        many_browsers: many,
        ...(integration === undefined && {
          brand: { brand_id: brandId, timezone, ...(country !== '' && { country }) },
        }),
      }),
    (made) => {
      setUrl(made.url);
      return 'The link is ready.';
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(undefined);
  };
  if (url !== undefined) {
    return (
      <div className="stack">
        <div className="muted small">Link for {partner}, shown only once</div>
        <Copyable text={url} label="onboarding link" />
        <Notice tone="calm" title={many ? 'Several browsers may open it' : 'The first browser that opens it keeps it'}>
          Send it to the partner’s developer. Until you approve, events are checked and not stored, and nothing is
          pulled on schedule.
        </Notice>
      </div>
    );
  }
  return (
    <form className="form" onSubmit={submit}>
      <TextInput
        label="Partner"
        description="shown on the page and in the audit log"
        value={partner}
        onChange={(event) => setPartner(event.currentTarget.value)}
        required
        maxLength={80}
        data-autofocus
      />
      {integration === undefined && (
        <>
          <div className="pair">
            <TextInput
              label="Name of the brand"
              description="lower-case letters, digits and -"
              pattern="[a-z0-9][a-z0-9\-]{0,60}"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              required
            />
            <TextInput
              label="Brand id"
              description="its id in the partner’s system"
              value={brandId}
              onChange={(event) => setBrandId(event.currentTarget.value)}
              required
            />
          </div>
          <div className="pair">
            <Autocomplete label="Time zone" data={zones} value={timezone} onChange={setTimezone} limit={12} required />
            <TextInput
              label="Country"
              description="two letters"
              pattern="[A-Z]{2}"
              value={country}
              onChange={(event) => setCountry(event.currentTarget.value)}
            />
          </div>
        </>
      )}
      <div className="pair">
        <Select
          label="What is asked for"
          data={[
            { value: 'both', label: 'Events and API' },
            { value: 'push', label: 'Events only' },
            { value: 'pull', label: 'API only' },
          ]}
          value={asks}
          onChange={(value) => setAsks((value ?? 'both') as keyof typeof asked)}
          allowDeselect={false}
        />
        <Select
          label="Language of the page"
          data={Object.entries(languages).map(([value, one]) => ({ value, label: one }))}
          value={language}
          onChange={(value) => setLanguage(value ?? 'en')}
          allowDeselect={false}
        />
      </div>
      <NumberInput
        label="Days until it expires"
        min={1}
        max={90}
        value={days}
        onChange={(value) => setDays(Number(value))}
      />
      <Switch
        label="Several browsers may use it"
        description="otherwise only the first one that opens it"
        checked={many}
        onChange={(event) => setMany(event.currentTarget.checked)}
      />
      <Button type="submit" loading={create.isPending}>
        Create the link
      </Button>
    </form>
  );
}
