import { Button, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { listFields, reservationFields } from '../../../../src/core/canonical/fields.ts';
import { call } from '../../api/client.ts';
import { useAct } from '../../api/query.tsx';
import type { Json, Previewed } from '../../api/types.ts';
import { Card } from '../../parts/basics.tsx';
import { fieldsMapped } from '../../parts/claims.ts';
import { inOrder } from '../../parts/data.tsx';
import { LinkedJson } from './LinkedJson.tsx';
import { linksOf } from './links.ts';
import { type Table, tablesFor, tableText, valueAt } from './tables.ts';

/** The value that is hovered or chosen, on one of the two sides. */
interface Spot {
  readonly side: 'raw' | 'canonical';
  readonly path: string;
}

/** The raw record and the canonical record side by side, each value linked to where it came from. */
export function Linking(props: {
  readonly record: Previewed['records'][number];
  readonly sample: string;
  readonly connector: string;
  readonly onConnector: (text: string) => void;
}) {
  const { record } = props;
  const [hovered, setHovered] = useState<Spot>();
  const [chosen, setChosen] = useState<Spot>();
  const links = linksOf(record);
  const spot = hovered ?? chosen;
  const partners = spot
    ? ((spot.side === 'raw' ? links.targets.get(spot.path) : links.sources.get(spot.path)) ?? [])
    : [];
  const lit = (side: Spot['side']) => (spot === undefined ? [] : spot.side === side ? [spot.path] : partners);
  const point = (side: Spot['side']) => (path: string | undefined) =>
    setHovered(path === undefined ? undefined : { side, path });
  const pick = (side: Spot['side']) => (path: string) => setChosen({ side, path });
  const scrolls = (side: Spot['side']) =>
    hovered !== undefined && chosen === undefined ? false : chosen?.side !== side;
  const loose = record.unmapped ?? [];
  return (
    <div className="studio">
      <Card title="Raw record" aside={fieldsMapped(loose.length).text}>
        <div className="stack">
          <LinkedJson
            label="Raw record, linked"
            value={(record.raw ?? null) as Json}
            lit={lit('raw')}
            scrolls={scrolls('raw')}
            describe={(path) => {
              const to = links.targets.get(path);
              if (to) return { words: `becomes ${to.join(', ')}`, isLoose: false };
              const isLoose = links.isUnmapped(path);
              return { words: isLoose ? 'not mapped' : 'read by the mapping', isLoose };
            }}
            onHover={point('raw')}
            onPick={pick('raw')}
          />
          {chosen?.side === 'raw' ? (
            <Assign
              key={chosen.path}
              path={chosen.path}
              tables={tablesFor(props.sample, valueAt((record.raw ?? null) as Json, chosen.path))}
              connector={props.connector}
              onConnector={props.onConnector}
            />
          ) : (
            <p className="small muted">Choose a value to map it. Underlined values are not mapped.</p>
          )}
        </div>
      </Card>
      <Card title="Canonical record" aside={record.id}>
        {record.record === undefined ? (
          <p className="muted">It does not become a record; the reason is above.</p>
        ) : (
          <div className="stack">
            <LinkedJson
              label="Canonical record, linked"
              value={inOrder(record.record as Json)}
              lit={lit('canonical')}
              scrolls={scrolls('canonical')}
              describe={(path) => {
                const origin = links.origins.get(path);
                return {
                  words: origin === undefined ? 'added by normalization or rules' : `from ${origin}`,
                  isLoose: false,
                };
              }}
              onHover={point('canonical')}
              onPick={pick('canonical')}
            />
            <p className="small muted" role="status">
              {spot?.side === 'canonical'
                ? `${spot.path} ← ${links.origins.get(spot.path) ?? 'normalization or rules'}`
                : spot
                  ? `${spot.path} → ${partners.join(', ') || 'not mapped'}`
                  : 'Point at a value to see where it came from.'}
            </p>
          </div>
        )}
      </Card>
    </div>
  );
}

const fields = [
  { group: 'Reservation', items: Object.keys(reservationFields) },
  ...Object.entries(listFields).map(([list, of]) => ({
    group: list,
    items: Object.keys(of).map((name) => `${list}.${name}`),
  })),
  { group: 'Further', items: [{ value: 'extra', label: 'extra, under a name you choose' }] },
];

/** Puts the chosen raw field into the mapping. */
function Assign(props: {
  path: string;
  /** Lists beside the records in which the value is an id. */
  tables: readonly Table[];
  connector: string;
  onConnector: (text: string) => void;
}) {
  const { path, connector } = props;
  const own = /([a-z0-9_]+)\W*$/.exec(path.toLowerCase())?.[1] ?? 'field';
  const [field, setField] = useState<string | null>(null);
  const [name, setName] = useState(own);
  const [from, setFrom] = useState<string>('');
  const lookup = props.tables.find((table) => tableText(table) === from);
  const assign = useAct(
    () =>
      call('map.assign', {
        connector,
        path,
        ...(lookup && { lookup }),
        field: field === 'extra' ? `extra.${name}` : (field ?? ''),
      }),
    (made) => {
      props.onConnector(made.connector);
      return `Mapped ${path}. Check the record.`;
    },
  );
  return (
    <div className="row assign">
      <Select
        label={`Map ${path} to`}
        data={fields}
        value={field}
        onChange={setField}
        searchable
        placeholder="a canonical field"
      />
      {props.tables.length > 0 && (
        <Select
          label="Take"
          description="the value is an id of a row outside the record"
          data={[
            { value: '', label: 'the value itself' },
            ...props.tables.map((table) => ({ value: tableText(table), label: tableText(table) })),
          ]}
          value={from}
          onChange={(chosen) => setFrom(chosen ?? '')}
        />
      )}
      {field === 'extra' && (
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={/^[a-z0-9_]+$/.test(name) ? undefined : 'lower-case letters, digits and _'}
        />
      )}
      <Button onClick={() => assign.mutate(undefined)} loading={assign.isPending} disabled={field === null}>
        Map
      </Button>
    </div>
  );
}
