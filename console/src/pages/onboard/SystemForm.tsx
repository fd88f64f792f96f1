import { Button, Select, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { Answer } from '../../api/client.ts';
import { useApi } from '../../api/query.tsx';
import type { Json } from '../../api/types.ts';
import { RefusedNotice, useApplying } from '../../editor/applying.tsx';
import { useMistakes, useSchema, useSettled } from '../../editor/checking.ts';
import { YamlEditor } from '../../editor/YamlEditor.tsx';
import { Card } from '../../parts/basics.tsx';
import { Choice } from '../../parts/Choice.tsx';
import { useTabDraft } from '../../parts/draft.ts';
import { inside } from '../../parts/inside.ts';
import { Mapped } from '../Mapped.tsx';
import { ImportCard } from '../studio/ImportCard.tsx';
import { SampleText } from '../studio/SampleText.tsx';
import { isConnectorName, useSuggest } from '../studio/suggest.ts';
import { type AuthForm, authForms } from './auth.ts';
import type { Brand } from './brand.ts';

const ways = { connector: 'Connector', description: 'API description', sample: 'Sample' };

/** The connector for the partner's system: an existing one, or one made here. */
export function SystemForm(props: { brand: Brand; onChange: (some: Partial<Brand>) => void; onNext: () => void }) {
  const { brand, onChange } = props;
  return (
    <div className="stack">
      <Card title="The partner’s system">
        <div className="form">
          <p>What do you have?</p>
          <Choice
            label="What you have"
            options={ways}
            value={brand.way}
            onChange={(way) => onChange({ way, connector: '' })}
          />
          {brand.way === 'connector' ? (
            <Existing {...props} />
          ) : (
            <TextInput
              label="Name of the new connector"
              description="lower-case letters, digits and -"
              placeholder="harbour-pms"
              value={brand.newConnector}
              onChange={(event) => onChange({ newConnector: event.currentTarget.value })}
              error={isConnectorName(brand.newConnector) || brand.newConnector === '' ? undefined : 'not a name'}
            />
          )}
        </div>
      </Card>
      {brand.way !== 'connector' && <Made key={brand.way} {...props} />}
    </div>
  );
}

const optionsOf = (connectors: readonly { name: string; title: string | null }[]) =>
  connectors.map(({ name, title }) => ({
    value: name,
    label: title === null || title.toLowerCase() === name ? name : `${title} (${name})`,
  }));

function Existing(props: { brand: Brand; onChange: (some: Partial<Brand>) => void; onNext: () => void }) {
  const { brand, onChange } = props;
  const connectors = useApi('connectors.list', {}).data?.items ?? [];
  const chosen = connectors.find(({ name }) => name === brand.connector);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (brand.connector !== '') props.onNext();
  };
  return (
    <form className="stack" onSubmit={submit}>
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
      <div>
        <Button type="submit">Next</Button>
      </div>
    </form>
  );
}

/** A new connector, from a description or a sample. It is put in force when it is ready; nothing uses it before the brand does. */
function Made(props: { brand: Brand; onChange: (some: Partial<Brand>) => void; onNext: () => void }) {
  const { brand, onChange } = props;
  const { newConnector: name, connectorText: text, way } = brand;
  const forms = authForms(useSchema('integration'));
  const [sampleDraft, setSample] = useTabDraft<string>('studio sample');
  const sample = sampleDraft?.value ?? '';
  const connectors = useApi('connectors.list', {}).data?.items ?? [];
  const isTaken = connectors.some((one) => one.name === name);
  if (!isConnectorName(name)) return null;
  if (isTaken && brand.connector !== name) {
    return (
      <Card>
        <p>
          A connector named {name} exists already. Choose another name, or{' '}
          <button type="button" className="link" onClick={() => onChange({ way: 'connector', connector: name })}>
            use {name}
          </button>
          .
        </p>
      </Card>
    );
  }
  const take = (connectorText: string, made?: Answer<'map.import'>) =>
    onChange({ connectorText, ...(made && proposed(made.integration, forms)) });
  return (
    <>
      {way === 'description' ? (
        <ImportCard name={name} sample="" onConnector={take} />
      ) : (
        <SampleCard name={name} sample={sample} onSample={setSample} onConnector={take} />
      )}
      {text !== '' && <Check {...props} sample={way === 'sample' ? sample : ''} />}
    </>
  );
}

/** The address and the authentication from the description. */
function proposed(integration: Json, forms: readonly AuthForm[]): Partial<Brand> {
  const pull = inside(integration, 'pull');
  const url = inside(pull, 'base_url');
  const auth = inside(pull, 'auth');
  const form = forms.find(({ fixed }) => Object.entries(fixed).every(([key, value]) => inside(auth, key) === value));
  return {
    ...(typeof url === 'string' && /^https?:\/\//.test(url) && { baseUrl: url }),
    ...(form && auth !== undefined && { auth: form.title, authFields: {} }),
  };
}

function SampleCard(props: {
  name: string;
  sample: string;
  onSample: (text: string) => void;
  onConnector: (text: string) => void;
}) {
  const { name, sample } = props;
  const suggest = useSuggest(sample, name, props.onConnector);
  return (
    <Card title="Sample" aside="a response that lists reservations">
      <div className="stack">
        <SampleText value={sample} onChange={props.onSample} height={220} />
        <div>
          <Button onClick={() => suggest.mutate(undefined)} loading={suggest.isPending} disabled={sample.trim() === ''}>
            Suggest a mapping
          </Button>
        </div>
      </div>
    </Card>
  );
}

function Check(props: { brand: Brand; sample: string; onChange: (some: Partial<Brand>) => void; onNext: () => void }) {
  const { sample, onChange } = props;
  const { newConnector: name, connectorText: text } = props.brand;
  const mistakes = useMistakes('connector', name, text);
  const applying = useApplying('connector', name, () => {
    onChange({ connector: name });
    props.onNext();
  });
  const asked = useSettled({ connector: text, sample }, 300);
  const preview = useApi('map.preview', asked, { enabled: sample.trim() !== '', keep: true, retry: false });
  return (
    <>
      <Card title={`connectors/${name}.yaml`} aside="checked as you type; Ctrl+Space for suggestions">
        <div className="stack">
          <RefusedNotice kind="connector" name={name} refused={applying.refused} />
          {applying.dialog}
          <YamlEditor
            label="Connector as YAML"
            value={text}
            onChange={(connectorText) => onChange({ connectorText })}
            mistakes={mistakes ?? []}
            schema={useSchema('connector')}
          />
          <div className="row">
            <Button
              onClick={() => applying.apply(text, undefined)}
              loading={applying.busy}
              disabled={mistakes === undefined || mistakes.length > 0}
            >
              Save {name} and continue
            </Button>
            <span className="muted">
              You can refine it in the <Link to="/studio">mapping studio</Link> at any time.
            </span>
          </div>
        </div>
      </Card>
      {(preview.data || preview.error) && <Mapped preview={preview.data} error={preview.error} />}
    </>
  );
}
