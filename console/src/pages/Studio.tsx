import { Button, Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { get, part, post, put } from '../api/client.ts';
import type { DocumentRow, DocumentText, Previewed, WholeDeadLetter } from '../api/types.ts';
import { useSchema, useSettled } from '../editor/checking.ts';
import { pathsIn } from '../editor/paths.ts';
import { YamlEditor } from '../editor/YamlEditor.tsx';
import { useAct } from '../parts/act.ts';
import { useBrands } from '../parts/BrandSelect.tsx';
import { Card, Empty, Head } from '../parts/basics.tsx';
import { useMay } from '../shell/session.ts';
import { Mapped } from './Mapped.tsx';

const route = getRouteApi('/desk/studio');

/** A response on the left, what it becomes on the right, and the connector between them. */
export function Studio() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [name, setName] = useState(search.connector ?? 'new-connector');
  const [yaml, setYaml] = useState('');
  const [sample, setSample] = useState('');
  const [push, setPush] = useState(false);
  const brands = useBrands();
  // One that is pulled comes first: a page can be fetched from it.
  const users = brands.filter(({ connector }) => connector === search.connector);
  const brand = (users.find(({ pull }) => pull !== null) ?? users[0])?.name;
  const [asBrand, setAsBrand] = useState<string>();
  const integration = asBrand ?? brand;
  const pulled = brands.some(({ name: its, pull }) => its === integration && pull !== null);

  const connector = useQuery({
    queryKey: ['documents', 'connector', search.connector],
    queryFn: () => get<DocumentText>(`/documents/connector/${part(search.connector ?? '')}`),
    enabled: search.connector !== undefined,
    staleTime: Infinity,
  });
  useEffect(() => {
    if (!connector.data) return;
    setYaml(connector.data.source);
    setName(connector.data.name);
  }, [connector.data]);
  const letter = useQuery({
    queryKey: ['letter', search.letter],
    queryFn: () => get<WholeDeadLetter>(`/dead-letters/${part(search.letter ?? '')}`),
    enabled: search.letter !== undefined,
  });
  useEffect(() => {
    if (!letter.data) return;
    setSample(JSON.stringify(sampleOf(letter.data, connector.data?.source ?? ''), null, 2));
    setPush(letter.data.kind === 'event');
    setAsBrand(letter.data.integration);
  }, [letter.data, connector.data]);

  const asked = useSettled({ connector: yaml, sample, integration, push }, 300);
  const preview = useQuery({
    queryKey: ['map', asked],
    queryFn: ({ signal }) => post<Previewed>('/map/preview', asked, signal),
    enabled: asked.connector.trim() !== '' && asked.sample.trim() !== '',
    placeholderData: keepPreviousData,
    retry: false,
  });
  const suggest = useAct(
    () => post<{ connector: string }>('/map/suggest', { sample, name }),
    (made) => {
      setYaml(made.connector);
      return 'A first mapping. Read it: names alone do not tell everything.';
    },
  );
  const fetchOne = useAct(
    (from: string) =>
      post<{ sample: string; window: { from: string; to: string } }>(`/integrations/${part(from)}/sample`),
    (page) => {
      setSample(indented(page.sample));
      return `One page of ${page.window.from} to ${page.window.to}.`;
    },
  );
  const documents = useQuery({
    queryKey: ['documents', 'list'],
    queryFn: () => get<{ items: DocumentRow[] }>('/documents'),
    staleTime: 10_000,
  });
  const connectors = documents.data?.items.filter(({ kind }) => kind === 'connector') ?? [];
  const schema = useSchema('connector');
  const paths = useMemo(() => pathsIn(sample), [sample]);
  const operator = useMay('operator');
  const mistakes = yaml === asked.connector ? (preview.data?.mistakes ?? []) : [];
  return (
    <>
      <Head
        title="Mapping studio"
        lead="Paste a response of the partner, take the suggestion, correct it, and watch the canonical record. Nothing is stored until you apply."
      >
        <Apply name={name} yaml={yaml} wrong={mistakes.length > 0} />
      </Head>
      <div className="filters">
        <Select
          label="Connector"
          value={search.connector ?? ''}
          onChange={(chosen) => void navigate({ search: { ...search, connector: chosen || undefined } })}
          data={[{ value: '', label: 'A new one' }, ...connectors.map((one) => ({ value: one.name, label: one.name }))]}
        />
        {search.connector === undefined && (
          <TextInput
            label="Its name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={/^[a-z0-9][a-z0-9-]{0,60}$/.test(name) ? undefined : 'small letters, digits and -'}
          />
        )}
        <Select
          label="Map as this brand"
          value={integration ?? ''}
          onChange={(chosen) => setAsBrand(chosen ?? undefined)}
          data={[{ value: '', label: 'None' }, ...brands.map((one) => ({ value: one.name, label: one.name }))]}
        />
      </div>
      <div className="studio">
        <div className="stack">
          <Card
            title="What the partner sends"
            aside={
              <Checkbox
                size="xs"
                label="It is an event"
                checked={push}
                onChange={(event) => setPush(event.currentTarget.checked)}
              />
            }
          >
            <div className="stack">
              <Textarea
                aria-label="Sample, as JSON"
                placeholder="Paste a JSON response here"
                value={sample}
                onChange={(event) => setSample(event.currentTarget.value)}
                styles={{ input: { fontFamily: 'var(--mono)', height: 200, fontSize: 12.5 } }}
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
                    Fetch one page of this brand
                  </Button>
                )}
              </div>
            </div>
          </Card>
          <Card title="Connector" aside="Ctrl+Space: what may stand here">
            <div className="stack">
              <YamlEditor
                label="Connector, as YAML"
                value={yaml}
                onChange={setYaml}
                mistakes={mistakes}
                schema={schema}
                paths={paths}
              />
            </div>
          </Card>
        </div>
        {preview.data || preview.error ? (
          <Mapped preview={preview.data} error={preview.error} />
        ) : (
          <Card title="What it becomes">
            <Empty title="Nothing to map yet">
              {sample.trim() === ''
                ? 'Paste a response, or fetch one page of a brand.'
                : 'Take a suggestion, or write the connector.'}
            </Empty>
          </Card>
        )}
      </div>
    </>
  );
}

function Apply({ name, yaml, wrong }: { name: string; yaml: string; wrong: boolean }) {
  const admin = useMay('admin');
  const apply = useAct(
    () => put<{ version: number }>(`/documents/connector/${part(name)}`, { text: yaml }),
    ({ version }) => `${name} is in force as version ${version}.`,
  );
  if (!admin) return null;
  return (
    <Button onClick={() => apply.mutate(undefined)} loading={apply.isPending} disabled={wrong || yaml.trim() === ''}>
      Apply {name}
    </Button>
  );
}

/** A dead letter as the partner sent it: an event whole, a record in the list that it was taken from. */
function sampleOf({ event, raw }: WholeDeadLetter, source: string): unknown {
  const body = (event as { body?: unknown } | null)?.body;
  if (body !== undefined && body !== null) return body;
  const value = (raw as { value?: unknown } | null)?.value ?? raw;
  const root = /^\s*root_path:\s*["']?([\w.]+)/m.exec(source)?.[1];
  return root === undefined
    ? [value]
    : root.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), [value]);
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
