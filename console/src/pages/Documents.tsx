import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { get, part, put } from '../api/client.ts';
import type { DocumentRow, DocumentText } from '../api/types.ts';
import { useMistakes, useSchema } from '../editor/checking.ts';
import { YamlEditor } from '../editor/YamlEditor.tsx';
import { useAct } from '../parts/act.ts';
import { Ago, Card, Empty, Head, Loaded } from '../parts/basics.tsx';
import { capital, plural } from '../parts/format.ts';
import { useMay } from '../shell/session.ts';
import { DocumentVersion } from './DocumentVersion.tsx';

export function Documents() {
  const query = useQuery({
    queryKey: ['documents', 'list'],
    queryFn: () => get<{ items: DocumentRow[] }>('/documents'),
  });
  return (
    <>
      <Head
        title="Documents"
        lead="Connectors, integrations and destinations: the same files as in the workspace, every version kept."
      />
      <Loaded query={query}>
        {({ items }) => (
          <Card flush>
            {items.length === 0 ? (
              <Empty title="No document is in force">Put some into the workspace, or connect a brand here.</Empty>
            ) : (
              <table className="list folds">
                <thead>
                  <tr>
                    <th scope="col">Document</th>
                    <th scope="col">Kind</th>
                    <th scope="col">Version</th>
                    <th scope="col">Applied</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map(({ kind, name, version, applied_at, applied_by }) => (
                    <tr key={`${kind} ${name}`}>
                      <td>
                        <Link to="/documents/$kind/$name" params={{ kind, name }} className="name">
                          {name}
                        </Link>
                      </td>
                      <td>{capital(kind)}</td>
                      <td className="num" data-label="Version">
                        {version}
                      </td>
                      <td>
                        <Ago at={applied_at} /> <span className="muted small">by {applied_by}</span>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Card>
        )}
      </Loaded>
    </>
  );
}

const route = getRouteApi('/desk/documents/$kind/$name');

export function DocumentPage() {
  const { kind, name } = route.useParams();
  const query = useQuery({
    queryKey: ['documents', kind, name],
    queryFn: () => get<DocumentText>(`/documents/${part(kind)}/${part(name)}`),
    refetchOnWindowFocus: false,
  });
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
    () => put<{ version: number }>(`/documents/${part(kind)}/${part(name)}`, { text }),
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
          <Card aside="Ctrl+Space: what may stand here">
            <div className="stack">
              <YamlEditor
                label={`${kind} ${name}, as YAML`}
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
          <table className="list">
            <tbody>
              {versions.map((one) => (
                <tr key={one.version}>
                  <td className="num">
                    {one.version === version ? (
                      <strong>Version {one.version}</strong>
                    ) : (
                      <Link to="." search={{ version: String(one.version) }} className="name">
                        Version {one.version}
                      </Link>
                    )}
                  </td>
                  <td>
                    <Ago at={one.applied_at} />
                    <div className="muted small">
                      {one.version === version && 'in force, '}by {one.applied_by}
                    </div>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
      </div>
    </>
  );
}
