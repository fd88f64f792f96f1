import { Autocomplete, Button, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { Card } from '../../parts/basics.tsx';
import type { Brand } from './brand.ts';

const zones = Intl.supportedValuesOf('timeZone');

export function BrandForm(props: {
  brand: Brand;
  onChange: (some: Partial<Brand>) => void;
  onBack: () => void;
  onNext: () => void;
}) {
  const { brand, onChange } = props;
  const typed = (name: 'name' | 'brandId') => ({
    value: brand[name],
    onChange: (event: FormEvent<HTMLInputElement>) => onChange({ [name]: event.currentTarget.value }),
    required: true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    props.onNext();
  };
  return (
    <Card title="The brand" aside="its time zone and country decide how dates and phone numbers are read">
      <form className="form" onSubmit={submit}>
        <div className="pair">
          <TextInput
            label="Name"
            description="lower-case letters, digits and -"
            placeholder="lisbon-grand"
            pattern="[a-z0-9][a-z0-9\-]{0,60}"
            {...typed('name')}
          />
          <TextInput
            label="Brand id"
            description="its id in the partner’s system"
            placeholder="LIS01"
            {...typed('brandId')}
          />
        </div>
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
        <div className="row">
          <Button variant="default" onClick={props.onBack}>
            Back
          </Button>
          <Button type="submit">Next</Button>
        </div>
      </form>
    </Card>
  );
}
