import { Button } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useApi } from '../api/query.tsx';
import type { DocumentKind, DocumentText } from '../api/types.ts';
import { AppliedNotice, ImpactNotice, ownMistakes, RefusedNotice, useApplying } from '../editor/applying.tsx';
import { useCheck, useSchema } from '../editor/checking.ts';
import { YamlEditor } from '../editor/YamlEditor.tsx';
import { Card, Head, Loaded, Notice, RelativeTime } from '../parts/basics.tsx';
import { type TextDraft, useKeeping, useLeaveWarning, useTextDraft } from '../parts/draft.ts';
import { capital, plural } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';
import { useMay } from '../shell/session.ts';
import { DocumentVersion } from './DocumentVersion.tsx';
import { NotFound } from './NotFound.tsx';

const route = getRouteApi('/console/documents/$kind/$name');

const kinds: readonly DocumentKind[] = ['connector', 'integration', 'destination', 'workspace'];

export function DocumentPage() {
  const params = route.useParams();
  const kind = kinds.find((one) => one === params.kind);
  return kind === undefined ? <NotFound /> : <OneDocument kind={kind} name={params.name} />;
}

function OneDocument({ kind, name }: { kind: DocumentKind; name: string }) {
  const query = useApi('documents.get', { kind, name }, { onFocus: false });
  const edited = useTextDraft<Edited>(`document ${kind} ${name}`);
  const applying = useApplying(kind, name, () => edited.save(undefined));
  return (
    <Loaded query={query} head={<Head title={name} crumb={<Link to="/documents">Documents</Link>} />}>
      {(document) => <Editing key={document.version} document={document} applying={applying} edited={edited} />}
    </Loaded>
  );
}

interface Edited {
  readonly text: string;
  /** The version that the text was made from. */
  readonly version: number;
}

function Editing(props: {
  document: DocumentText;
  applying: ReturnType<typeof useApplying>;
  edited: TextDraft<Edited>;
}) {
  const { document, applying, edited } = props;
  const { draft } = edited;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const older = Number(search.version) || undefined;
  const look = (one: number | undefined) =>
    void navigate({ search: { version: one === undefined ? undefined : String(one) } });
  const { kind, name, source, version, versions } = document;
  const text = draft?.value.text ?? source;
  const dirty = text !== source;
  const isOlder = older !== undefined && older !== version;
  const setText = (next: string) =>
    edited.save(next === source ? undefined : { text: next, version: draft?.value.version ?? version });
  useLeaveWarning(dirty);
  const check = useCheck(kind, name, text);
  useKeeping(edited, check.secret);
  const checked = check.mistakes ?? [];
  const mistakes = checked.length > 0 ? checked : ownMistakes(kind, name, text, applying.refused);
  const schema = useSchema(kind);
  const admin = useMay('admin');
  return (
    <>
      <Head
        title={name}
        crumb={<Link to="/documents">Documents</Link>}
        lead={`${capital(kind)}, version ${version}, ${plural(versions.length, 'version')} kept`}
      >
        {kind === 'connector' && (
          <Button variant="default" component={Link} to={`/studio?connector=${name}`}>
            Open in the studio
          </Button>
        )}
        {admin && !isOlder && (
          <Button
            onClick={() => applying.apply(text, document)}
            loading={applying.busy}
            disabled={checked.length > 0 || !dirty}
          >
            Apply
          </Button>
        )}
      </Head>
      <div className="wide-narrow">
        {isOlder ? (
          <DocumentVersion
            key={older}
            current={document}
            version={older}
            onClose={() => look(undefined)}
            onRestore={(restored) => {
              applying.apply(restored, document);
              look(undefined);
            }}
            onTake={(taken) => {
              setText(taken);
              look(undefined);
            }}
          />
        ) : (
          <Card aside="Ctrl+Space for suggestions">
            <div className="stack">
              <RefusedNotice kind={kind} name={name} refused={applying.refused} />
              {applying.dialog}
              {!dirty && (
                <AppliedNotice
                  kind={kind}
                  name={name}
                  applied={applying.applied}
                  onUndo={applying.undo}
                  busy={applying.busy}
                />
              )}
              {dirty && admin && <ImpactNotice kind={kind} name={name} />}
              <DraftNotice edited={edited} version={version} />
              <YamlEditor
                label={`${kind} ${name} as YAML`}
                value={text}
                onChange={setText}
                mistakes={mistakes}
                schema={schema}
                readOnly={!admin}
                line={Number(search.line) || undefined}
              />
            </div>
          </Card>
        )}
        <Versions versions={versions} inForce={version} />
      </div>
    </>
  );
}

function Versions({ versions, inForce }: { versions: DocumentText['versions']; inForce: number }) {
  return (
    <Card title="Versions" flush>
      <Table
        label="Versions"
        narrow
        rows={versions}
        rowKey={(one) => String(one.version)}
        columns={[
          {
            head: 'Version',
            cell: (one) =>
              one.version === inForce ? (
                <strong>Version {one.version}</strong>
              ) : (
                <Link to="." search={{ version: String(one.version) }} className="name">
                  Version {one.version}
                </Link>
              ),
          },
          {
            head: 'Applied',
            cell: (one) => (
              <>
                <RelativeTime at={one.applied_at} />
                <div className="muted small">
                  {one.version === inForce && 'in force, '}by {one.applied_by}
                </div>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}

function DraftNotice(props: { edited: TextDraft<Edited>; version: number }) {
  const { draft, inTabOnly, save } = props.edited;
  if (draft === undefined) return null;
  const { value, savedMs } = draft;
  const outdated = value.version !== props.version;
  return (
    <Notice tone={outdated ? 'warn' : 'calm'} title="Draft, not applied">
      <span className="row">
        <span>
          Changed <RelativeTime at={new Date(savedMs).toISOString()} />, from version {value.version}
          {outdated && `; version ${props.version} is in force by now, compare before you apply`}.{' '}
          {inTabOnly ? 'It is kept in this tab only, because it may hold a credential.' : 'It is kept in this browser.'}
        </span>
        <Button size="compact-xs" variant="default" onClick={() => save(undefined)}>
          Discard the draft
        </Button>
      </span>
    </Notice>
  );
}
