import { Button, TextInput } from '@mantine/core';
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
import { Linking } from '../studio/Linking.tsx';
import { SampleText } from '../studio/SampleText.tsx';
import { isConnectorName, useSuggest } from '../studio/suggest.ts';
import { type AuthForm, authForms } from './auth.ts';
import type { Brand } from './brand.ts';
import { FindSystem } from './FindSystem.tsx';
import { Questions } from './Questions.tsx';
import { RequestForm } from './RequestForm.tsx';

const ways = { connector: 'Its name', sample: 'An answer', description: 'An API description' };

interface Step {
  readonly brand: Brand;
  readonly onChange: (some: Partial<Brand>) => void;
  readonly onNext: () => void;
}

/** The partner's system: found by its name; or an answer is pasted, a description imported, or an existing connector chosen. */
export function SystemForm(props: Step) {
  const { brand, onChange } = props;
  return (
    <Card title="The partner’s system">
      <div className="form">
        <Choice
          label="What you have"
          options={ways}
          value={brand.way}
          onChange={(way) => onChange({ way, connector: '', connectorText: '', integration: '' })}
        />
        {brand.way === 'connector' ? <FindSystem {...props} /> : <Made key={brand.way} {...props} />}
      </div>
    </Card>
  );
}

/** A new connector, proposed from what is pasted or imported. Nothing is stored yet. */
function Made(props: Step) {
  const { brand, onChange } = props;
  const { newConnector: name, connectorText: text, way } = brand;
  const forms = authForms(useSchema('integration'));
  const [sampleDraft, setSample] = useTabDraft<string>('studio sample');
  const sample = sampleDraft?.value ?? '';
  const connectors = useApi('connectors.list', {}).data?.items ?? [];
  const isTaken = connectors.some((one) => one.name === name) && brand.connector !== name;
  const take = (connectorText: string, made?: Answer<'map.import'>) =>
    onChange({ connectorText, ...(made && proposed(made.integration, forms)) });
  const suggest = useSuggest(sample, name, (made, imported) => {
    take(made, imported);
    props.onNext();
  });
  const isNamed = isConnectorName(name) && !isTaken;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isNamed) return;
    if (way === 'sample') suggest.mutate(undefined);
    else if (text !== '') props.onNext();
  };
  return (
    <form className="stack" onSubmit={submit}>
      {way === 'sample' && (
        <div>
          <p className="small muted">
            Paste the JSON of a list of reservations, as the partner’s API answers it. An API description works too.
          </p>
          <SampleText value={sample} onChange={setSample} height={240} />
        </div>
      )}
      <TextInput
        label="Name of the system"
        description="lower-case letters, digits and -; its connector gets this name"
        placeholder="harbour-pms"
        value={name}
        onChange={(event) => onChange({ newConnector: event.currentTarget.value })}
        required
        error={
          isTaken ? (
            <>
              A connector has this name already.{' '}
              <button
                type="button"
                className="link"
                onClick={() => onChange({ way: 'connector', connector: name, search: name })}
              >
                Use {name}
              </button>
            </>
          ) : isConnectorName(name) || name === '' ? undefined : (
            'not a name'
          )
        }
      />
      {way === 'description' && isNamed && <ImportCard name={name} sample="" onConnector={take} />}
      <div>
        <Button
          type="submit"
          loading={suggest.isPending}
          disabled={!isNamed || (way === 'sample' ? sample.trim() === '' : text === '')}
        >
          Next
        </Button>
      </div>
    </form>
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

/** How the list is requested and mapped: a form, the document beside it, and the records that the sample becomes. */
export function MappingForm(props: Step & { onBack: () => void }) {
  const { brand, onChange } = props;
  const { newConnector: name, connectorText: text, timezone, country, way } = brand;
  const [draft] = useTabDraft<string>('studio sample');
  const sample = way === 'sample' ? (draft?.value ?? '') : '';
  const mistakes = useMistakes('connector', name, text);
  const inForce = useApi('documents.list', {}).data?.items.find((one) => one.kind === 'connector' && one.name === name);
  const applying = useApplying('connector', name, () => {
    onChange({ connector: name });
    props.onNext();
  });
  const property = { ...(timezone !== '' && { timezone }), ...(country !== '' && { country }) };
  const asked = useSettled({ connector: text, sample, ...property }, 300);
  const preview = useApi('map.preview', asked, { enabled: sample.trim() !== '', keep: true, retry: false });
  const write = (connectorText: string) => onChange({ connectorText });
  return (
    <div className="stack">
      {(preview.data || preview.error) && (
        <Mapped
          preview={preview.data}
          error={preview.error}
          linked={(record) => (
            <Linking key={record.id} record={record} sample={sample} connector={text} onConnector={write} />
          )}
        />
      )}
      <Questions text={text} onText={write} />
      <div className="split">
        <Card title="Request" aside="what an answer cannot show">
          <RequestForm text={text} onText={write} />
        </Card>
        <Card title={`connectors/${name}.yaml`} aside="the same as text; Ctrl+Space for suggestions">
          <div className="stack">
            <RefusedNotice kind="connector" name={name} refused={applying.refused} />
            {applying.dialog}
            <YamlEditor
              label="Connector as YAML"
              value={text}
              onChange={write}
              mistakes={mistakes ?? []}
              schema={useSchema('connector')}
            />
          </div>
        </Card>
      </div>
      <div className="row">
        <Button variant="default" onClick={props.onBack}>
          Back
        </Button>
        <Button
          onClick={() => applying.apply(text, inForce && { source: text, version: inForce.version })}
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
  );
}
