import { Button, Checkbox, PasswordInput, Switch, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useApi } from '../../api/query.tsx';
import { useSchema } from '../../editor/checking.ts';
import { Card } from '../../parts/basics.tsx';
import { AuthFields } from './AuthFields.tsx';
import { authForms } from './auth.ts';
import { type Brand, documentOf } from './brand.ts';
import { credentialsOf } from './system.ts';

export function FeedForm(props: {
  brand: Brand;
  onChange: (some: Partial<Brand>) => void;
  onBack: () => void;
  onNext: () => void;
}) {
  const { brand, onChange } = props;
  const [tried, setTried] = useState(false);
  const documents = useApi('documents.list', {});
  const destinations = documents.data?.items.filter(({ kind }) => kind === 'destination').map(({ name }) => name) ?? [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (brand.deliver.length > 0) props.onNext();
  };
  const forms = authForms(useSchema('integration'));
  return (
    <div className="split">
      <Card title="Access and destinations">
        <form className="form" onSubmit={submit}>
          <Switch
            label="Pull its API on a schedule"
            checked={brand.pulls}
            onChange={(event) => onChange({ pulls: event.currentTarget.checked })}
          />
          {brand.pulls && <PullFields brand={brand} onChange={onChange} />}
          <Switch
            label="Accept pushed events"
            checked={brand.pushes}
            onChange={(event) => onChange({ pushes: event.currentTarget.checked })}
          />
          <Checkbox.Group
            label="Deliver to"
            value={[...brand.deliver]}
            onChange={(deliver) => onChange({ deliver })}
            description="at least one"
            error={tried && brand.deliver.length === 0 ? 'Choose at least one destination.' : undefined}
          >
            <div className="row" style={{ gap: 18, padding: '6px 0' }}>
              {destinations.map((name) => (
                <Checkbox key={name} value={name} label={name} />
              ))}
              {destinations.length === 0 && <Link to="/documents">No destination yet. Add one first.</Link>}
            </div>
          </Checkbox.Group>
          <Switch
            label="Begin in preview"
            description="Nothing is sent until you have seen who would get what, and released it."
            checked={brand.preview}
            onChange={(event) => onChange({ preview: event.currentTarget.checked })}
          />
          <div className="row">
            <Button variant="default" onClick={props.onBack}>
              Back
            </Button>
            <Button type="submit">Next</Button>
          </div>
        </form>
      </Card>
      <Card title={`integrations/${brand.name}.yaml`} aside="as it will be; you can edit it in the next step">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <section tabIndex={0} aria-label="The document so far" className="scrolls">
          <pre className="json">{documentOf(brand, forms).text}</pre>
        </section>
      </Card>
    </div>
  );
}

function PullFields({ brand, onChange }: { brand: Brand; onChange: (some: Partial<Brand>) => void }) {
  return (
    <>
      <TextInput
        label="Base URL"
        type="url"
        placeholder="https://pms.example"
        value={brand.baseUrl}
        onChange={(event) => onChange({ baseUrl: event.currentTarget.value })}
        required
      />
      {brand.integration === '' ? (
        <AuthFields brand={brand} onChange={onChange} />
      ) : (
        <Credentials brand={brand} onChange={onChange} />
      )}
    </>
  );
}

/** What the system's integration needs, and where the vendor's settings have it. */
function Credentials({ brand, onChange }: { brand: Brand; onChange: (some: Partial<Brand>) => void }) {
  const { authFields: typed, connector } = brand;
  const found = useApi('connectors.list', { search: connector }).data?.items.find(({ name }) => name === connector);
  return (
    <>
      <div className="fields">
        {credentialsOf(brand.integration).map(({ key, label }) => (
          <PasswordInput
            key={key}
            label={label}
            description="Stored encrypted, never shown again."
            value={typed[key] ?? ''}
            onChange={(event) => onChange({ authFields: { ...typed, [key]: event.currentTarget.value } })}
            autoComplete="off"
            required
          />
        ))}
      </div>
      <ul className="small muted" aria-label="Where to find them">
        {found?.system?.credentials.map((line) => (
          <li key={line}>{line.replaceAll('`', '')}</li>
        ))}
      </ul>
    </>
  );
}
