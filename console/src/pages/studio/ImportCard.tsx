import { Button, FileButton, Select } from '@mantine/core';
import { useState } from 'react';
import { type Answer, call } from '../../api/client.ts';
import { useAct } from '../../api/query.tsx';
import { Card } from '../../parts/basics.tsx';
import { plural } from '../../parts/format.ts';

interface Imported {
  readonly description: string;
  readonly made: Answer<'map.import'>;
}

/** A first connector from the partner's API description: OpenAPI 3, Swagger 2 or a Postman collection. */
export function ImportCard(props: {
  name: string;
  sample: string;
  onConnector: (text: string, made: Answer<'map.import'>) => void;
}) {
  const [imported, setImported] = useState<Imported>();
  const read = useAct(
    async ({ description, operation }: { description: string; operation?: string | undefined }) => {
      const sample = props.sample.trim() === '' ? undefined : props.sample;
      return call('map.import', { description, name: props.name, operation, sample });
    },
    (made, { description }) => {
      setImported({ description, made });
      props.onConnector(made.connector, made);
      return 'A first connector. Check it: it was inferred from the description.';
    },
  );
  const made = imported?.made;
  return (
    <Card title="API description" aside="OpenAPI 3, Swagger 2 or a Postman collection">
      <div className="stack">
        <FileButton
          accept=".json,.yaml,.yml"
          onChange={(file) => void file?.text().then((description) => read.mutate({ description }))}
          inputProps={{ 'aria-label': 'API description' }}
        >
          {(button) => (
            <div>
              <Button {...button} variant="default" loading={read.isPending}>
                Import an API description …
              </Button>
            </div>
          )}
        </FileButton>
        {imported && made && (
          <>
            <Select
              label="Operation that lists reservations"
              description={made.operations[0]?.reason}
              data={made.operations.map(({ operation }) => operation)}
              defaultValue={made.operations[0]?.operation ?? null}
              onChange={(operation) => operation && read.mutate({ description: imported.description, operation })}
            />
            <p className="small muted">
              {plural(made.fields.length, 'field')} mapped, {plural(made.unmapped.length, 'field')} not mapped.
            </p>
            {made.notes.length > 0 && (
              <ul className="samples small">
                {made.notes.map((note) => (
                  <li key={note}>{note}</li>
                ))}
              </ul>
            )}
          </>
        )}
      </div>
    </Card>
  );
}
