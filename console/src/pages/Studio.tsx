import { Button } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useApi } from '../api/query.tsx';
import { ownMistakes, useApplying } from '../editor/applying.tsx';
import { useCheck, useSettled } from '../editor/checking.ts';
import { Card, Empty, Head } from '../parts/basics.tsx';
import { useKeeping, useLeaveWarning, useTextDraft } from '../parts/draft.ts';
import { plural } from '../parts/format.ts';
import { useMay } from '../shell/session.ts';
import { Mapped } from './Mapped.tsx';
import { CasesCard, useCases } from './studio/CasesCard.tsx';
import { Choices } from './studio/Choices.tsx';
import { ConnectorCard } from './studio/ConnectorCard.tsx';
import { EffectCard } from './studio/EffectCard.tsx';
import { ImportCard } from './studio/ImportCard.tsx';
import { LetterNotice } from './studio/LetterNotice.tsx';
import { Linking } from './studio/Linking.tsx';
import { useProposal } from './studio/proposal.ts';
import { SampleCard } from './studio/SampleCard.tsx';
import { useSample } from './studio/sample.ts';
import { useSuggest } from './studio/suggest.ts';

const route = getRouteApi('/console/studio');

interface Edited {
  readonly name: string;
  readonly yaml: string;
  /** The version that the text was made from. */
  readonly version?: number | undefined;
}

/** The sample and the connector, the resulting records, and the raw record beside the canonical one. */
export function Studio() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const connector = useApi(
    'documents.get',
    { kind: 'connector', name: search.connector ?? '' },
    { enabled: search.connector !== undefined, staleMs: Number.POSITIVE_INFINITY },
  );
  const source = connector.data?.source ?? '';
  const sample = useSample(search.connector, search, connector.data?.source);
  const draft = useTextDraft<Edited>(`studio ${search.connector ?? ''}`);
  const inForce = connector.data?.version;
  const { yaml, name, version }: Edited = draft.draft?.value ?? {
    yaml: source,
    name: search.connector ?? 'new-connector',
    version: inForce,
  };
  const dirty = yaml !== source;
  const setYaml = (text: string) =>
    draft.save(text === source ? undefined : { yaml: text, name, version: version ?? inForce });
  useProposal(search, source, setYaml);
  useLeaveWarning(dirty);
  useKeeping(draft, useCheck('connector', undefined, yaml).secret);
  const applying = useApplying('connector', name, () => {
    draft.save(undefined);
    const stillHere = location.pathname === '/studio';
    if (stillHere && search.connector === undefined) void navigate({ search: { ...search, connector: name } });
  });
  const replaced = connector.data && { source, version: version ?? connector.data.version };
  const { text, isEvent: push, integration, property } = sample;
  const asked = useSettled(
    { connector: yaml, sample: text, integration: integration || undefined, push, ...property },
    300,
  );
  const preview = useApi('map.preview', asked, {
    enabled: asked.connector.trim() !== '' && asked.sample.trim() !== '',
    keep: true,
    retry: false,
  });
  const suggest = useSuggest(text, name, setYaml);
  const operator = useMay('operator');
  const admin = useMay('admin');
  const cases = useCases(search.connector, asked.connector, operator);
  const failing = cases.data?.items.filter(({ passes }) => !passes).length ?? 0;
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
            onClick={() => applying.apply(yaml, replaced)}
            loading={applying.busy}
            disabled={checked.length > 0 || yaml.trim() === '' || !dirty}
            data-danger={(dirty && failing > 0) || undefined}
          >
            Apply {name}
            {dirty && failing > 0 && ` (${plural(failing, 'case')} changed) …`}
          </Button>
        )}
      </Head>
      <Choices
        connector={search.connector}
        onConnector={(chosen) => void navigate({ search: { ...search, connector: chosen } })}
        name={name}
        onName={(chosen) => draft.save({ yaml, name: chosen, version })}
        sample={sample}
      />
      {search.letter !== undefined && (
        <div className="below">
          <LetterNotice id={search.letter} isDirty={dirty} />
        </div>
      )}
      {search.connector === undefined && (
        <div className="below">
          <ImportCard name={name} sample={text} onConnector={setYaml} />
        </div>
      )}
      <div className="studio three">
        <SampleCard sample={sample} suggest={suggest} />
        <ConnectorCard
          name={name}
          isNew={search.connector === undefined}
          yaml={yaml}
          onYaml={setYaml}
          isDirty={dirty}
          onDiscard={() => draft.save(undefined)}
          applying={applying}
          mistakes={mistakes}
          sample={text}
        />
        <div className="stack">
          {preview.data || preview.error ? (
            <Mapped
              preview={preview.data}
              error={preview.error}
              linked={(record) => (
                <Linking key={record.id} record={record} sample={text} connector={yaml} onConnector={setYaml} />
              )}
            />
          ) : (
            <NothingMapped hasSample={text.trim() !== ''} />
          )}
        </div>
      </div>
      <div className="stack">
        {operator && search.connector !== undefined && (
          <div className="studio">
            <CasesCard
              connector={search.connector}
              text={yaml}
              cases={cases.data?.items}
              error={cases.error}
              current={{ sample: text, push, ...property }}
              onOpen={sample.open}
            />
            {sample.user !== undefined && <EffectCard integration={integration || sample.user} connector={yaml} />}
          </div>
        )}
      </div>
    </>
  );
}

function NothingMapped({ hasSample }: { readonly hasSample: boolean }) {
  return (
    <Card title="Canonical records">
      <Empty title="Nothing to map yet">
        {hasSample
          ? 'Use the suggested mapping, or write the connector.'
          : 'Paste a response, or fetch a sample from a brand.'}
      </Empty>
    </Card>
  );
}
