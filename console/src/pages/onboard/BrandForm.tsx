import { Autocomplete, Button, Select, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useApi } from '../../api/query.tsx';
import { Card } from '../../parts/basics.tsx';
import type { Brand } from './brand.ts';

const optionsOf = (connectors: readonly { name: string; title: string | null }[]) =>
  connectors.map(({ name, title }) => ({
    value: name,
    label: title === null || title.toLowerCase() === name ? name : `${title} (${name})`,
  }));

const zones = Intl.supportedValuesOf('timeZone');

export function BrandForm(props: { brand: Brand; onChange: (some: Partial<Brand>) => void; onNext: () => void }) {
  const { brand, onChange } = props;
  const connectors = useApi('connectors.list', {}).data?.items ?? [];
  const chosen = connectors.find(({ name }) => name === brand.connector);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (brand.connector !== '') props.onNext();
  };
  return (
    <Card title="The brand">
      <form className="form" onSubmit={submit}>
        <div className="pair">
          <TextInput
            label="Name"
            description="lower-case letters, digits and -"
            placeholder="lisbon-grand"
            value={brand.name}
            onChange={(event) => onChange({ name: event.currentTarget.value })}
            pattern="[a-z0-9][a-z0-9\-]{0,60}"
            required
          />
          <TextInput
            label="Brand id"
            description="its id in the partner’s system"
            placeholder="LIS01"
            value={brand.brandId}
            onChange={(event) => onChange({ brandId: event.currentTarget.value })}
            required
          />
        </div>
        <Select
          label="Connector"
          description={chosen?.description ?? 'how the partner’s system is read'}
          data={[
            { group: 'In use', items: optionsOf(connectors.filter(({ shipped }) => !shipped)) },
            { group: 'Shipped with Innbound', items: optionsOf(connectors.filter(({ shipped }) => shipped)) },
          ]}
          searchable
          value={brand.connector || null}
          onChange={(connector) => onChange({ connector: connector ?? '' })}
          required
          placeholder="Choose one"
        />
        <p className="small muted">
          None fits? <Link to="/studio">Build one in the mapping studio</Link> from an API description or a sample
          response.
        </p>
        <div className="pair">
          <Autocomplete
            label="Time zone"
            data={zones}
            value={brand.timezone}
            onChange={(timezone) => onChange({ timezone })}
            placeholder="Europe/Lisbon"
            limit={12}
            required
          />
          <TextInput
            label="Country, for local phone numbers"
            value={brand.country}
            onChange={(event) => onChange({ country: event.currentTarget.value.toUpperCase() })}
            pattern="[A-Z]{2}"
            maxLength={2}
            placeholder="PT"
          />
        </div>
        <div>
          <Button type="submit">Next</Button>
        </div>
      </form>
    </Card>
  );
}
