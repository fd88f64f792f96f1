import { Autocomplete, Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useSchema } from '../../editor/checking.ts';
import { Choice } from '../../parts/Choice.tsx';
import { type AuthField, type AuthForm, pagingForms } from './auth.ts';
import { type ListRequest, readRequest, writeRequest } from './connector-request.ts';

const notations = ['DD/MM/YYYY', 'DD.MM.YYYY', 'MM/DD/YYYY', 'YYYYMMDD', 'YYYY-MM-DD[T]HH:mm:ss', 'epoch_s'];

/** What a response cannot show: how it is requested. The same as in the text beside it; either can be edited. */
export function RequestForm(props: { text: string; onText: (text: string) => void }) {
  const request = readRequest(props.text);
  const forms = pagingForms(useSchema('connector'));
  // What is typed is kept as typed; the document leaves out lines that are not complete yet.
  const [typedMore, setTypedMore] = useState<string>();
  if (request === undefined) return <p className="muted">The document is not valid YAML; correct it beside.</p>;
  const change = (some: Partial<ListRequest>) => props.onText(writeRequest(props.text, { ...request, ...some }));
  const typed = (name: 'path' | 'from' | 'to' | 'step') => ({
    value: request[name],
    onChange: (event: { currentTarget: { value: string } }) => change({ [name]: event.currentTarget.value }),
  });
  const type = request.paging.type ?? 'none';
  const formOf = (kind: string | null) => forms.find((one) => one.fixed.type === kind);
  const form = formOf(type);
  const unit = request.by === 'stay' ? 'day' : 'time';
  const where = request.method === 'POST' ? 'body' : 'query';
  const draw = ({ name, label, description, required, usual }: AuthField) => (
    <TextInput
      key={name}
      label={label}
      description={description}
      required={required}
      placeholder={usual ?? ''}
      value={places.has(name) ? bare(request.paging[name] ?? '') : (request.paging[name] ?? '')}
      onChange={({ currentTarget: { value } }) =>
        change({ paging: { ...request.paging, [name]: places.has(name) ? placed(value, where) : value } })
      }
    />
  );
  return (
    <div className="form">
      <div className="pair">
        <Select
          label="Method"
          data={['GET', 'POST']}
          value={request.method}
          onChange={(method) => change({ method: method === 'POST' ? 'POST' : 'GET' })}
        />
        <TextInput label="Path" description="after the base URL" placeholder="/api/reservations" {...typed('path')} />
      </div>
      <Choice
        label="How the list is asked for"
        options={{ stay: 'By stay dates', change: 'By change', all: 'As a whole' }}
        value={request.by}
        onChange={(by) => change({ by })}
      />
      {request.by !== 'all' && (
        <>
          <div className="pair">
            <TextInput label={`Parameter of the first ${unit}`} placeholder="dateFrom" {...typed('from')} />
            <TextInput label={`Parameter of the last ${unit}`} placeholder="dateTo" {...typed('to')} />
          </div>
          <Autocomplete
            label={`How a ${unit} is written`}
            placeholder={request.by === 'stay' ? 'YYYY-MM-DD' : '2031-05-04T09:30:00Z'}
            data={notations}
            value={request.notation}
            onChange={(notation) => change({ notation })}
          />
        </>
      )}
      {request.by === 'change' && (
        <TextInput
          label="Longest range of one request"
          description="if the partner limits it; then the last time must be sent too"
          placeholder="31d"
          {...typed('step')}
        />
      )}
      <Textarea
        label="Further parameters"
        description={`in the ${where}; one name: value per line. {brand_id} is the brand’s id`}
        autosize
        minRows={1}
        value={typedMore ?? request.more}
        onChange={(event) => {
          setTypedMore(event.currentTarget.value);
          change({ more: event.currentTarget.value });
        }}
        onBlur={() => setTypedMore(undefined)}
      />
      <Select
        label="Paging"
        data={forms.map(({ fixed: { type: value = '' }, description }) => ({ value, label: description }))}
        value={type}
        onChange={(next) => change({ paging: { type: next ?? 'none', ...firstPaging(formOf(next), where) } })}
      />
      {form && form.fields.length > 0 && (
        <>
          <div className="fields">{form.fields.filter(({ usual }) => usual === undefined).map(draw)}</div>
          <details className="fold">
            <summary>More about paging</summary>
            <div className="fields">{form.fields.filter(({ usual }) => usual !== undefined).map(draw)}</div>
          </details>
        </>
      )}
      <p className="small muted">
        Events by a stream (a WebSocket): add <code>stream</code> to the document; see docs/guides/streams.md.
      </p>
    </div>
  );
}

/** Parameters of the request. The form shows their names alone; `query.` or `body.` follows from the method. */
const places: ReadonlySet<string> = new Set(['offset', 'limit', 'page', 'cursor']);
const bare = (place: string): string => place.replace(/^(?:query|body)\./, '');
const placed = (name: string, where: 'query' | 'body'): string =>
  name === '' || /^(?:query|body|header)\./.test(name) ? name : `${where}.${name}`;

/** The schema's examples, so that a kind that is chosen is complete. */
function firstPaging(form: AuthForm | undefined, where: 'query' | 'body'): Record<string, string> {
  const filled = (form?.fields ?? []).flatMap(({ name, first }) =>
    first === undefined ? [] : [[name, first] as const],
  );
  return Object.fromEntries(filled.map(([name, first]) => [name, first.replace(/^query\./, `${where}.`)]));
}
