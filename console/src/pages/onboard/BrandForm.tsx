import { Autocomplete, Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Card } from '../../parts/basics.tsx';
import type { Brand } from './brand.ts';

const zones = Intl.supportedValuesOf('timeZone');
const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** The name of the country of a code; undefined for a code that is none, or stands for another one (UK). */
const countryName = (code: string): string | undefined =>
  /^[A-Z]{2}$/.test(code) && new Intl.Locale(`und-${code}`).region === code ? regions.of(code) : undefined;

export function BrandForm(props: {
  brand: Brand;
  onChange: (some: Partial<Brand>) => void;
  onBack: () => void;
  onNext: () => void;
}) {
  const { brand, onChange } = props;
  const [tried, setTried] = useState(false);
  const isZone = zones.includes(brand.timezone) || brand.timezone === 'UTC';
  const isCountry = brand.country === '' || countryName(brand.country) !== undefined;
  const typed = (name: 'name' | 'brandId') => ({
    value: brand[name],
    onChange: (event: FormEvent<HTMLInputElement>) => onChange({ [name]: event.currentTarget.value }),
    required: true,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (isZone && isCountry) props.onNext();
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
            description="the nearest city of the list"
            error={tried && !isZone ? 'Choose one from the list, such as Europe/Lisbon.' : undefined}
            required
          />
          <TextInput
            label="Country, for local phone numbers"
            value={brand.country}
            onChange={(event) => onChange({ country: event.currentTarget.value.toUpperCase() })}
            maxLength={2}
            description={countryName(brand.country) ?? 'two letters'}
            error={tried && !isCountry ? 'Not a country code of ISO 3166; the United Kingdom is GB.' : undefined}
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
