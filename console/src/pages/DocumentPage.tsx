import { Button } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import type { DocumentKind, DocumentText } from '../api/types.ts';
import { useMistakes, useSchema } from '../editor/checking.ts';
import { YamlEditor } from '../editor/YamlEditor.tsx';
import { Ago, Card, Head, Loaded } from '../parts/basics.tsx';
import { capital, plural } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';
import { useMay } from '../shell/session.ts';
import { DocumentVersion } from './DocumentVersion.tsx';
import { NotFound } from './NotFound.tsx';

const route = getRouteApi('/desk/documents/$kind/$name');

const kinds: readonly DocumentKind[] = ['connector', 'integration', 'destination', 'workspace'];

export function DocumentPage() {
  const params = route.useParams();
  const kind = kinds.find((one) => one === params.kind);
  return kind === undefined ? <NotFound /> : <OneDocument kind={kind} name={params.name} />;
}

function OneDocument({ kind, name }: { kind: DocumentKind; name: string }) {
  const query = useApi('documents.get', { kind, name }, { onFocus: false });
  return (
    <Loaded query={query} head={<Head title={name} crumb={<Link to="/documents">Documents</Link>} />}>
      {(document) => <Editing key={document.version} document={document} />}
    </Loaded>
  );
}

function Editing({ document }: { document: DocumentText }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const older = Number(search.version) || undefined;
  const look = (one: number | undefined) =>
    void navigate({ search: { version: one === undefined ? undefined : String(one) } });
  const { kind, name, source, version, versions } = document;
  const [text, setText] = useState(source);
  useEffect(() => setText(source), [source]);
  const mistakes = useMistakes(kind, name, text) ?? [];
  const schema = useSchema(kind);
  const admin = useMay('admin');
  const apply = useAct(
    () => call('documents.apply', { kind, name, text }),
    (done) => `${name} is in force as version ${done.version}.`,
  );
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
        {admin && (
          <Button
            onClick={() => apply.mutate(undefined)}
            loading={apply.isPending}
            disabled={mistakes.length > 0 || text === source}
          >
            Apply
          </Button>
        )}
      </Head>
      <div className="wide-narrow">
        {older !== undefined && older !== version ? (
          <DocumentVersion
            key={older}
            current={document}
            version={older}
            onClose={() => look(undefined)}
            onTake={(taken) => {
              setText(taken);
              look(undefined);
            }}
          />
        ) : (
          <Card aside="Ctrl+Space for suggestions">
            <div className="stack">
              <YamlEditor
                label={`${kind} ${name} as YAML`}
                value={text}
                onChange={setText}
                mistakes={mistakes}
                schema={schema}
                readOnly={!admin}
              />
            </div>
          </Card>
        )}
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
                  one.version === version ? (
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
                    <Ago at={one.applied_at} />
                    <div className="muted small">
                      {one.version === version && 'in force, '}by {one.applied_by}
                    </div>
                  </>
                ),
              },
            ]}
          />
        </Card>
      </div>
    </>
  );
}
