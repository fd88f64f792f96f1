import { Fragment, useId, useState } from 'react';
import { authValue, forms } from './auth-value.ts';
import { call } from './link.ts';
import { Act } from './parts.tsx';
import { fill, useTexts } from './texts.ts';
import type { Pull } from './types.ts';

const pagingFields = {
  auto: [],
  none: [],
  link: [],
  offset: ['offset', 'limit'],
  page: ['page', 'limit'],
  cursor: ['next', 'cursor'],
} as const;
type Paging = keyof typeof pagingFields;
/** The form of the credentials that are stored. */
const storedKind = (auth: Pull['auth']): string =>
  forms.find(({ fixed }) => fixed.type === auth?.type && fixed.grant === auth?.grant)?.title ?? 'bearer';

/** What is stored, as the form writes it. */
function storedPaging(stored: NonNullable<Pull['list']>['paging'] | undefined) {
  const type = (Object.keys(pagingFields) as Paging[]).find((one) => one === stored?.type) ?? 'auto';
  const places = pagingFields[type].flatMap((name) =>
    typeof stored?.[name] === 'string' ? [[name, stored[name].replace(/^query\./, '')]] : [],
  );
  return { type, places: Object.fromEntries(places) as Readonly<Record<string, string>>, isChanged: false };
}
/** In the query unless it says otherwise. */
const placed = (name: string, text: string): string => (name === 'next' || text.includes('.') ? text : `query.${text}`);

/** Where the partner's API is, how we sign in, and how its list is asked for. */
export function PullForm({ pull, onSaved }: { pull: Pull; onSaved: () => Promise<void> }) {
  const { t } = useTexts();
  const [base, setBase] = useState(pull.base_url ?? '');
  const [kind, setKind] = useState(() => storedKind(pull.auth));
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [replaces, setReplaces] = useState(pull.auth === null);
  const [list, setList] = useState(pull.list);
  const [paging, setPaging] = useState(() => storedPaging(pull.list?.paging));
  const form = forms.find(({ title }) => title === kind);
  const isMoved = pull.base_url !== null && base !== pull.base_url;
  const asksAuth = replaces || isMoved;
  const save = async () => {
    const { type, places, isChanged } = paging;
    const names = Object.entries(places).filter(([, text]) => text !== '');
    const chosen = { type, ...Object.fromEntries(names.map(([name, text]) => [name, placed(name, text)])) };
    const { paging: _, ...asked } = list ?? {};
    await call('POST', '/pull', {
      base_url: base.trim().replace(/\/$/, ''),
      ...(asksAuth && form && { auth: authValue(form, typed) }),
      ...(list && { list: { ...asked, ...(isChanged && type !== 'auto' && { paging: chosen }) } }),
    });
    // Secrets leave the page with the request.
    setTyped({});
    setReplaces(false);
    await onSaved();
  };
  const input = (
    label: string,
    value: string,
    change: (text: string) => void,
    more: { required?: boolean; type?: string } = {},
  ) => (
    <label>
      <span>
        {label}
        {more.required && <small> · {t.pull.required}</small>}
      </span>
      <input
        type={more.type ?? 'text'}
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
      />
    </label>
  );
  return (
    <div className="form no-print">
      {input(t.pull.base, base, setBase, { required: true, type: 'url' })}
      {asksAuth ? (
        <>
          <label>
            <span>{t.pull.auth}</span>
            <select
              value={kind}
              onChange={(event) => {
                setKind(event.currentTarget.value);
                setTyped({});
              }}
            >
              {forms.map(({ title }) => (
                <option key={title} value={title}>
                  {t.codes.auth[title]?.[0]}
                </option>
              ))}
            </select>
            <small>{t.codes.auth[kind]?.[1]}</small>
          </label>
          {form?.fields
            .filter(({ usual }) => usual === undefined)
            .map((field) => (
              <AuthInput key={field.name} kind={kind} field={field} typed={typed} onType={setTyped} />
            ))}
          {form?.fields.some(({ usual }) => usual !== undefined) && (
            <details>
              <summary>{t.verdict.details}</summary>
              {form.fields
                .filter(({ usual }) => usual !== undefined)
                .map((field) => (
                  <AuthInput key={field.name} kind={kind} field={field} typed={typed} onType={setTyped} />
                ))}
            </details>
          )}
        </>
      ) : (
        <p>
          {pull.auth?.type === 'none' ? t.pull.open : fill(t.pull.stored, { kind: t.codes.auth[kind]?.[0] })}{' '}
          <button type="button" className="quiet" onClick={() => setReplaces(true)}>
            {t.pull.replace}
          </button>
        </p>
      )}
      {list && (
        <fieldset>
          <legend>{t.pull.list}</legend>
          <label>
            <span>{t.pull.method}</span>
            <select
              value={list.method}
              onChange={(event) => setList({ ...list, method: event.currentTarget.value as 'GET' })}
            >
              <option>GET</option>
              <option>POST</option>
            </select>
          </label>
          {input(t.pull.path, list.path, (path) => setList({ ...list, path }), { required: true })}
          {input(t.pull.from, list.from, (from) => setList({ ...list, from }))}
          {input(t.pull.to, list.to, (to) => setList({ ...list, to }))}
          <label>
            <span>{t.pull.paging}</span>
            <select
              value={paging.type}
              onChange={(event) =>
                setPaging({ type: event.currentTarget.value as Paging, places: {}, isChanged: true })
              }
            >
              {Object.entries(t.pull.pagingKinds).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          {pagingFields[paging.type].map((name) => (
            <Fragment key={name}>
              {input(t.pull.pagingFields[name], paging.places[name] ?? '', (text) =>
                setPaging({ ...paging, places: { ...paging.places, [name]: text }, isChanged: true }),
              )}
            </Fragment>
          ))}
        </fieldset>
      )}
      <Act act={save} disabled={base === '' || list?.path === ''}>
        {t.pull.save}
      </Act>
    </div>
  );
}

type AuthField = (typeof forms)[number]['fields'][number];
type Typed = Readonly<Record<string, string>>;

interface AuthInputProps {
  readonly kind: string;
  readonly field: AuthField;
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
}

function AuthInput({ kind, field, typed, onType }: AuthInputProps) {
  const { t } = useTexts();
  const id = useId();
  const { name, required, secret, form, choices, usual } = field;
  const [label, description] = t.codes.auth[`${kind}.${name}`] ??
    t.codes.auth[name] ?? [field.label, field.description];
  const value = typed[name] ?? usual ?? '';
  const type = (event: { currentTarget: { value: string } }) => onType({ ...typed, [name]: event.currentTarget.value });
  const options = form === 'switch' ? ['true', 'false'] : choices;
  return (
    <label htmlFor={id}>
      <span>
        {label}
        {required && <small> · {t.pull.required}</small>}
      </span>
      {form === 'choice' || form === 'switch' ? (
        <select id={id} value={value} onChange={type}>
          {options.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : form === 'pairs' ? (
        <textarea
          id={id}
          rows={2}
          value={value}
          onChange={type}
          placeholder="Name: value"
          autoComplete="off"
          spellCheck={false}
        />
      ) : (
        <input
          id={id}
          type={secret ? 'password' : 'text'}
          value={value}
          onChange={type}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <small>{description}</small>
    </label>
  );
}
