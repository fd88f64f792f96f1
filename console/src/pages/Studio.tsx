import { Autocomplete, Button, Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import type { Json, WholeDeadLetter } from '../api/types.ts';
import { AppliedNotice, ImpactNotice, ownMistakes, RefusedNotice, useApplying } from '../editor/applying.tsx';
import { useCheck, useSchema, useSettled } from '../editor/checking.ts';
import { pathsIn } from '../editor/paths.ts';
import { YamlEditor } from '../editor/YamlEditor.tsx';
import { useBrands } from '../parts/BrandSelect.tsx';
import { Card, Empty, Head } from '../parts/basics.tsx';
import { useKeeping, useLeaveWarning, useTabDraft, useTextDraft } from '../parts/draft.ts';
import { plural } from '../parts/format.ts';
import { useMay } from '../shell/session.ts';
import { Mapped } from './Mapped.tsx';
import { type Case, CasesCard, useCases } from './studio/CasesCard.tsx';
import { EffectCard } from './studio/EffectCard.tsx';
import { ImportCard } from './studio/ImportCard.tsx';
import { Linking } from './studio/Linking.tsx';

const route = getRouteApi('/desk/studio');

interface Edited {
  readonly name: string;
  readonly yaml: string;
}

const zones = Intl.supportedValuesOf('timeZone');

/** The sample and the connector, the resulting records, and the raw record beside the canonical one. */
export function Studio() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const text = useTextDraft<Edited>(`studio ${search.connector ?? ''}`);
  const { draft, save: saveDraft } = text;
  const [sampleDraft, setSample] = useTabDraft<string>('studio sample');
  const sample = sampleDraft?.value ?? '';
  const [push, setPush] = useState(false);
  const brands = useBrands();
  // Preferably a brand that is pulled, because a sample can be fetched from it.
  const users = brands.filter(({ connector }) => connector === search.connector);
  const brand = (users.find(({ pull }) => pull !== null) ?? users[0])?.name;
  const [asBrand, setAsBrand] = useState<string>();
  const integration = asBrand ?? brand;
  const pulled = brands.some(({ name: its, pull }) => its === integration && pull !== null);

  const connector = useApi(
    'documents.get',
    { kind: 'connector', name: search.connector ?? '' },
    { enabled: search.connector !== undefined, staleMs: Number.POSITIVE_INFINITY },
  );
  const source = connector.data?.source ?? '';
  const edited = draft?.value ?? { yaml: source, name: search.connector ?? 'new-connector' };
  const { yaml, name } = edited;
  const dirty = yaml !== source;
  const setYaml = (text: string) => saveDraft(text === source ? undefined : { yaml: text, name });
  const setName = (text: string) => saveDraft({ yaml, name: text });
  useLeaveWarning(dirty);
  useKeeping(text, useCheck('connector', undefined, yaml).secret);
  const applying = useApplying('connector', name, () => {
    saveDraft(undefined);
    const stillHere = location.pathname === '/studio';
    if (stillHere && search.connector === undefined) void navigate({ search: { ...search, connector: name } });
  });
  const letter = useApi('dead_letters.get', { id: search.letter ?? '' }, { enabled: search.letter !== undefined });
  useEffect(() => {
    if (!letter.data) return;
    setSample(JSON.stringify(sampleOf(letter.data, connector.data?.source ?? ''), null, 2));
    setPush(letter.data.kind === 'event');
    setAsBrand(letter.data.integration);
  }, [letter.data, connector.data, setSample]);

  // Of a property that is not connected yet.
  const [timezone, setTimezone] = useState('');
  const [country, setCountry] = useState('');
  const property = integration
    ? {}
    : {
        ...(zones.includes(timezone) && { timezone }),
        ...(/^[A-Z]{2}$/.test(country) && { country }),
      };
  const asked = useSettled({ connector: yaml, sample, integration: integration || undefined, push, ...property }, 300);
  const preview = useApi('map.preview', asked, {
    enabled: asked.connector.trim() !== '' && asked.sample.trim() !== '',
    keep: true,
    retry: false,
  });
  const suggest = useAct(
    () => call('map.suggest', { sample, name }),
    (made) => {
      setYaml(made.connector);
      return 'A first mapping. Check it: it was inferred from field names and values.';
    },
  );
  const fetchOne = useAct(
    (integration: string) => call('map.fetch', { integration }),
    (page) => {
      setSample(indented(page.sample));
      return `Fetched one page for ${page.window.from} to ${page.window.to}.`;
    },
  );
  const documents = useApi('documents.list', {}, { staleMs: 10_000 });
  const connectors = documents.data?.items.filter(({ kind }) => kind === 'connector') ?? [];
  const schema = useSchema('connector');
  const paths = useMemo(() => pathsIn(sample), [sample]);
  const operator = useMay('operator');
  const admin = useMay('admin');
  const cases = useCases(search.connector, asked.connector, operator);
  const failing = cases.data?.items.filter(({ passes }) => !passes).length ?? 0;
  const open = (one: Case) => {
    setSample(indented(one.sample));
    setPush(one.push);
    setAsBrand('');
    setTimezone(one.timezone ?? '');
    setCountry(one.country ?? '');
  };
  const checked = yaml === asked.connector ? (preview.data?.mistakes ?? []) : [];
  const mistakes = checked.length > 0 ? checked : ownMistakes('connector', name, yaml, applying.refused);
  return (
    <>
      <Head
        title="Mapping studio"
        lead="Paste a response of the partner, start from the suggested mapping, correct it, and check the canonical records. Nothing is stored until you apply."
      >
        {admin && (
          <Button
            onClick={() => applying.apply(yaml, search.connector === undefined ? undefined : source)}
            loading={applying.busy}
            disabled={checked.length > 0 || yaml.trim() === '' || !dirty}
            data-danger={(dirty && failing > 0) || undefined}
          >
            Apply {name}
            {dirty && failing > 0 && ` (${plural(failing, 'case')} changed) …`}
          </Button>
        )}
      </Head>
      <div className="filters">
        <Select
          label="Connector"
          value={search.connector ?? ''}
          onChange={(chosen) => void navigate({ search: { ...search, connector: chosen || undefined } })}
          data={[
            { value: '', label: 'New connector' },
            ...connectors.map((one) => ({ value: one.name, label: one.name })),
          ]}
        />
        {search.connector === undefined && (
          <TextInput
            label="Name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={/^[a-z0-9][a-z0-9-]{0,60}$/.test(name) ? undefined : 'lower-case letters, digits and -'}
          />
        )}
        <Select
          label="Map as brand"
          value={integration ?? ''}
          onChange={(chosen) => setAsBrand(chosen ?? undefined)}
          data={[{ value: '', label: 'None' }, ...brands.map((one) => ({ value: one.name, label: one.name }))]}
        />
        {!integration && (
          <>
            <Autocomplete
              label="Time zone"
              data={zones}
              limit={12}
              value={timezone}
              onChange={setTimezone}
              placeholder="UTC"
            />
            <TextInput
              label="Country"
              value={country}
              onChange={(event) => setCountry(event.currentTarget.value.toUpperCase())}
              maxLength={2}
              placeholder="PT"
            />
          </>
        )}
      </div>
      {search.connector === undefined && (
        <div className="below">
          <ImportCard name={name} sample={sample} onConnector={setYaml} />
        </div>
      )}
      <div className="studio">
        <Card
          title="Sample"
          aside={
            <Checkbox
              size="xs"
              label="The sample is an event"
              checked={push}
              onChange={(event) => setPush(event.currentTarget.checked)}
            />
          }
        >
          <div className="stack">
            <Textarea
              aria-label="Sample as JSON"
              placeholder="Paste a JSON response here"
              value={sample}
              onChange={(event) => setSample(event.currentTarget.value)}
              styles={{ input: { fontFamily: 'var(--mono)', height: 400, fontSize: 12.5 } }}
            />
            <div className="row">
              <Button
                onClick={() => suggest.mutate(undefined)}
                loading={suggest.isPending}
                disabled={sample.trim() === ''}
              >
                Suggest a mapping
              </Button>
              {operator && integration && pulled && (
                <Button variant="default" onClick={() => fetchOne.mutate(integration)} loading={fetchOne.isPending}>
                  Fetch a sample from this brand
                </Button>
              )}
            </div>
          </div>
        </Card>
        <Card
          title="Connector"
          aside={
            dirty && search.connector !== undefined ? (
              <Button size="compact-xs" variant="default" onClick={() => saveDraft(undefined)}>
                Discard the draft
              </Button>
            ) : (
              'Ctrl+Space for suggestions'
            )
          }
        >
          <div className="stack">
            <RefusedNotice kind="connector" name={name} refused={applying.refused} />
            {applying.dialog}
            {!dirty && (
              <AppliedNotice
                kind="connector"
                name={name}
                applied={applying.applied}
                onUndo={applying.undo}
                busy={applying.busy}
              />
            )}
            {dirty && admin && search.connector !== undefined && <ImpactNotice kind="connector" name={name} />}
            <YamlEditor
              label="Connector as YAML"
              value={yaml}
              onChange={setYaml}
              mistakes={mistakes}
              schema={schema}
              paths={paths}
            />
          </div>
        </Card>
      </div>
      <div className="stack">
        {preview.data || preview.error ? (
          <Mapped
            preview={preview.data}
            error={preview.error}
            linked={(record) => <Linking key={record.id} record={record} connector={yaml} onConnector={setYaml} />}
          />
        ) : (
          <Card title="Canonical records">
            <Empty title="Nothing to map yet">
              {sample.trim() === ''
                ? 'Paste a response, or fetch a sample from a brand.'
                : 'Use the suggested mapping, or write the connector.'}
            </Empty>
          </Card>
        )}
        {operator && search.connector !== undefined && (
          <div className="studio">
            <CasesCard
              connector={search.connector}
              text={yaml}
              cases={cases.data?.items}
              error={cases.error}
              current={{ sample, push, ...property }}
              onOpen={open}
            />
            {brand !== undefined && <EffectCard integration={integration || brand} connector={yaml} />}
          </div>
        )}
      </div>
    </>
  );
}

/** A dead letter in the form the partner sent it: an event as it is, a record inside the list it came from. */
function sampleOf({ event, raw }: WholeDeadLetter, source: string): Json {
  const body = inside(event, 'body');
  if (body !== undefined && body !== null) return body;
  const value = inside(raw, 'value') ?? raw;
  const root = /^\s*root_path:\s*["']?([\w.]+)/m.exec(source)?.[1];
  return root === undefined ? [value] : root.split('.').reduceRight<Json>((inner, key) => ({ [key]: inner }), [value]);
}

const inside = (value: Json, key: string): Json | undefined =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value[key] : undefined;

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
