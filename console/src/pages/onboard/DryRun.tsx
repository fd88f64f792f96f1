import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type Answer, call, Problem } from '../../api/client.ts';
import { useAct } from '../../api/query.tsx';
import { Card, Empty, Failure, meaning, Notice, State } from '../../parts/basics.tsx';
import { dryRun } from '../../parts/claims.ts';
import { capital, plural, words } from '../../parts/format.ts';
import { LastRequest, type Sent } from '../../parts/LastRequest.tsx';
import { Records } from '../Mapped.tsx';
import type { Brand } from './brand.ts';

type Day = Answer<'integrations.dry_run'>;

/** Today's date at the property. Swedish writes dates as YYYY-MM-DD. */
const todayAt = (timezone: string): string => new Intl.DateTimeFormat('sv', { timeZone: timezone }).format(new Date());

/** Pulls one chosen day without storing anything, and shows the resulting records. */
export function DryRun({ brand }: { brand: Brand }) {
  const [result, setResult] = useState<Day>();
  const run = useAct(
    (day: string) => call('integrations.dry_run', { integration: brand.name, day }),
    (answer) => {
      setResult(answer);
      return undefined;
    },
  );
  const failedRequest = run.error instanceof Problem ? (run.error.body.request as Sent | undefined) : undefined;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    run.mutate(String(new FormData(event.currentTarget).get('day')));
  };
  return (
    <Card title="Dry run of one day" aside="stores nothing">
      <div className="stack">
        <p>Pulls everything that the partner lists for a day, and shows the records that a run would store.</p>
        <form onSubmit={submit} className="row bottom">
          <TextInput name="day" type="date" label="Day" defaultValue={todayAt(brand.timezone)} required />
          <Button type="submit" variant={result ? 'default' : 'filled'} loading={run.isPending}>
            Dry run
          </Button>
        </form>
        {run.error && <Failure error={run.error} />}
        {failedRequest && <LastRequest sent={failedRequest} />}
        {result && !run.error && <Result day={result} />}
      </div>
    </Card>
  );
}

function Result({ day }: { day: Day }) {
  const { counts, records, error, warning, request } = day;
  const run = dryRun(day);
  const { fetched, changed, unchanged, dropped, dead_lettered: dead } = counts;
  const parts = [
    `${changed} would be stored as new or changed`,
    ...(unchanged > 0 ? [`${unchanged} already stored`] : []),
    ...(dropped > 0 ? [`${dropped} dropped by a rule`] : []),
    ...(dead > 0 ? [`${plural(dead, 'dead letter')}`] : []),
  ];
  return (
    <>
      {error && (
        <Notice tone="warn" role="alert" title={`Incomplete: ${error.message}`}>
          {meaning(error.code)?.next}
        </Notice>
      )}
      {warning && <Notice tone="warn" role="alert" title={warning} />}
      <Notice tone={run.tone} role="status" title={run.text}>
        {fetched > 0 && `${parts.join(', ')}.`}
      </Notice>
      {fetched === 0 && (
        <Empty small title="The partner lists nothing for this day">
          Choose another day.
        </Empty>
      )}
      <Records
        records={records}
        label={({ kind, id, outcome, message }) =>
          kind === 'record' ? (
            <div className="row">
              <State of="complete" label={capital(words(outcome))} />
              <code>{id}</code>
            </div>
          ) : (
            <Notice tone={kind === 'dead' ? 'bad' : 'warn'} title={message ?? capital(words(outcome))}>
              {kind === 'dead' ? 'It would become a dead letter. Correct the mapping.' : 'A transform rule drops it.'}
            </Notice>
          )
        }
      />
      {records.length < fetched && <p className="muted">The first {plural(records.length, 'record')}.</p>}
      {request && <LastRequest sent={request} />}
    </>
  );
}
