import type { Received, Reply } from '../http-server.ts';
import { type Account, type Body, changed, demand, isDate, isInstant, newId, only, split, text } from './account.ts';

interface Table {
  readonly set: string;
  /** Columns with the last part of their type. */
  readonly columns: Map<string, { kind: string; length: number }>;
  readonly keys: Set<string>;
  readonly rows: Map<string, Body>;
}

const root = '/api/data/v9.2/';
const missing: Reply = { status: 404, body: { error: { code: '0x80040217', message: 'Does Not Exist' } } };
const noReference: Reply = {
  status: 404,
  body: { error: { code: '0x80060891', message: 'A record with the specified key values does not exist' } },
};
const duplicate: Reply = {
  status: 412,
  body: { error: { code: '0x80060892', message: 'A record with the key exists' } },
};

/** Tables with typed columns that have to be created first; rows by id or alternate key; PATCH creates unless If-Match says otherwise. */
export function dynamicsAccount(): Account {
  const string = (length: number) => ({ kind: 'StringAttributeMetadata', length });
  const tables = new Map<string, Table>([
    [
      'contact',
      {
        set: 'contacts',
        columns: new Map([
          ['firstname', string(50)],
          ['lastname', string(50)],
          ['emailaddress1', string(100)],
          ['mobilephone', string(50)],
          ['birthdate', { kind: 'DateTimeAttributeMetadata', length: 10 }],
          ['donotbulkemail', { kind: 'BooleanAttributeMetadata', length: 0 }],
        ]),
        keys: new Set<string>(),
        rows: new Map(),
      },
    ],
  ]);
  const relations = new Map<string, { one: string; many: string; lookup: string }>();
  const bySet = (set: string) => [...tables.values()].find((table) => table.set === set);
  const contacts = () => tables.get('contact') as Table;

  function rowOf(table: Table, reference: string): string | undefined {
    const [, key, value] = /^(\w+)='([^']*)'$/.exec(reference) ?? [];
    if (key === undefined) return table.rows.has(reference) ? reference : undefined;
    demand(table.keys.has(key), `${key} is not an alternate key`);
    demand(!/[/#<>*%&:\\?+]/.test(value ?? ''), 'characters of an alternate key');
    return [...table.rows].find(([, row]) => row[key] === value)?.[0];
  }

  function check(table: Table, body: Body): Body | undefined {
    const row: Body = {};
    for (const [name, value] of Object.entries(body)) {
      if (name.endsWith('@odata.bind')) {
        const lookup = name.slice(0, -'@odata.bind'.length);
        if (value === null) {
          row[lookup] = null;
          continue;
        }
        const [, set = '', reference = ''] = /^\/(\w+)\((.+)\)$/.exec(String(value)) ?? [];
        const known = [...relations.values()].some((one) => one.lookup === lookup && tables.get(one.many) === table);
        const target = bySet(set);
        demand(known && target !== undefined, `${name} is not a lookup`);
        const id = rowOf(target, reference);
        if (id === undefined) return undefined;
        row[lookup] = id;
        continue;
      }
      const column = table.columns.get(name);
      demand(column !== undefined, `unknown column ${name}`);
      row[name] = value;
      if (value === null) continue;
      if (column.kind.startsWith('String')) demand(typeof value === 'string' && value.length <= column.length, name);
      if (column.kind.startsWith('DateTime')) demand(column.length === 10 ? isDate(value) : isInstant(value), name);
      if (/^(Integer|Decimal)/.test(column.kind)) demand(typeof value === 'number', name);
    }
    return row;
  }

  function patch(table: Table, reference: string, { body, headers }: Received): Reply {
    const row = check(table, body as Body);
    if (row === undefined) return noReference;
    const known = rowOf(table, reference);
    if (known === undefined && headers['if-match'] === '*') return missing;
    const clash = [...table.keys].some(
      (key) => row[key] !== undefined && [...table.rows].some(([id, one]) => id !== known && one[key] === row[key]),
    );
    if (clash) return duplicate;
    const [, key, value = ''] = /^(\w+)='([^']*)'$/.exec(reference) ?? [];
    const before = { ...(key && { [key]: value }), ...table.rows.get(known ?? '') };
    table.rows.set(known ?? newId(), changed(before, row));
    return { status: 204 };
  }

  /** All or nothing, as in standard tables. */
  function upsertMultiple(table: Table, request: Received): Reply {
    const { Targets: targets, ...rest } = request.body as { Targets: Body[] };
    only(rest, [], 'UpsertMultiple');
    demand(targets.length > 0 && targets.length <= 1000, 'targets');
    const logical = [...tables].find(([, one]) => one === table)?.[0];
    const before = new Map(table.rows);
    for (const { '@odata.type': type, '@odata.id': id, ...body } of targets) {
      const [, set, reference = ''] = /^(\w+)\((.+)\)$/.exec(String(id)) ?? [];
      demand(type === `Microsoft.Dynamics.CRM.${logical}` && set === table.set, 'type and id of a target');
      const reply = patch(table, reference, { ...request, body, headers: {} });
      if (reply.status === 204) continue;
      table.rows.clear();
      for (const [key, row] of before) table.rows.set(key, row);
      return reply;
    }
    return { status: 204 };
  }

  function query(parameters: URLSearchParams): Reply {
    const form = /^innbound_key eq null and \((.*)\)$/.exec(parameters.get('$filter') ?? '');
    demand(form !== null && parameters.get('$orderby') === 'createdon', 'filter');
    const wanted = (form[1] ?? '').split(' or ').map((one) => {
      const [, email] = /^emailaddress1 eq '((?:[^']|'')*)'$/.exec(one) ?? [];
      demand(email !== undefined, one);
      return email.replaceAll("''", "'");
    });
    const found = [...contacts().rows].filter(
      ([, row]) => wanted.includes(String(row.emailaddress1)) && row.innbound_key === undefined,
    );
    const value = found.map(([contactid, { emailaddress1 }]) => ({ contactid, emailaddress1 }));
    return { status: 200, body: { value } };
  }

  function define({ method, body }: Received, path: string): Reply {
    const given = (body ?? {}) as Body;
    const label = given.DisplayName as { LocalizedLabels?: unknown[] } | undefined;
    if (method === 'POST')
      demand(path === 'RelationshipDefinitions' || (label?.LocalizedLabels?.length ?? 0) > 0, 'label');
    const relation = /^RelationshipDefinitions(?:\(SchemaName='(\w+)'\))?$/.exec(path);
    if (relation) {
      if (method === 'GET')
        return relations.has(relation[1] ?? '') ? { status: 200, body: { SchemaName: relation[1] } } : missing;
      const { ReferencedEntity: one, ReferencingEntity: many, Lookup: lookup, SchemaName: name } = given;
      demand(tables.has(String(one)) && tables.has(String(many)), 'relationship');
      relations.set(String(name), {
        one: String(one),
        many: String(many),
        lookup: String((lookup as Body).SchemaName),
      });
      return { status: 204 };
    }
    if (path === 'EntityDefinitions') {
      const { SchemaName: name, EntitySetName: set, Attributes: list } = given;
      const [primary] = list as Body[];
      demand(primary?.IsPrimaryName === true, 'primary name');
      const columns = new Map([[String(primary.SchemaName).toLowerCase(), string(Number(primary.MaxLength))]]);
      tables.set(String(name).toLowerCase(), { set: String(set), columns, keys: new Set(), rows: new Map() });
      return { status: 204 };
    }
    const [, logical = '', rest = ''] = /^EntityDefinitions\(LogicalName='(\w+)'\)(.*)$/.exec(path) ?? [];
    const table = tables.get(logical);
    if (table === undefined) return missing;
    if (rest === '') return { status: 200, body: { LogicalName: logical } };
    if (rest === '/Keys') {
      if (method === 'GET')
        return { status: 200, body: { value: [...table.keys].map((LogicalName) => ({ LogicalName })) } };
      const [column] = given.KeyAttributes as string[];
      demand(column !== undefined && table.columns.has(column), 'key column');
      table.keys.add(column);
      return { status: 204 };
    }
    const column = /^\/Attributes\(LogicalName='(\w+)'\)$/.exec(rest);
    if (column) return table.columns.has(column[1] ?? '') ? { status: 200, body: { LogicalName: column[1] } } : missing;
    demand(rest === '/Attributes' && method === 'POST', path);
    const kind = String(given['@odata.type']).replace('Microsoft.Dynamics.CRM.', '');
    const shared = ['@odata.type', 'SchemaName', 'DisplayName', 'RequiredLevel'];
    const own: Record<string, string[]> = {
      StringAttributeMetadata: ['MaxLength', 'FormatName'],
      DateTimeAttributeMetadata: ['Format', 'DateTimeBehavior'],
      IntegerAttributeMetadata: ['MinValue', 'MaxValue', 'Format'],
      DecimalAttributeMetadata: ['MinValue', 'MaxValue', 'Precision'],
    };
    only(given, [...shared, ...(own[kind] ?? [])], kind);
    demand(own[kind]?.every((name) => given[name] !== undefined) === true, kind);
    const length = kind.startsWith('DateTime') ? (given.Format === 'DateOnly' ? 10 : 30) : Number(given.MaxLength ?? 0);
    table.columns.set(String(given.SchemaName).toLowerCase(), { kind, length });
    return { status: 204 };
  }

  return {
    preset: 'dynamics',
    takesPhones: true,
    keepsStays: true,
    onConflict: 'both',
    variables: (url) => ({ environment_url: url }),
    answer(request) {
      const { path: whole, query: parameters } = split(request.path);
      demand(whole.startsWith(root) && request.headers['odata-version'] === '4.0', whole);
      const path = decodeURIComponent(whole.slice(root.length));
      if (/^(EntityDefinitions|RelationshipDefinitions)/.test(path)) return define(request, path);
      if (path === 'contacts' && request.method === 'GET') return query(parameters);
      const multiple = /^(\w+)\/Microsoft\.Dynamics\.CRM\.UpsertMultiple$/.exec(path);
      if (multiple) {
        const table = bySet(multiple[1] ?? '');
        return table === undefined ? missing : upsertMultiple(table, request);
      }
      const [, set = '', reference = ''] = /^(\w+)\((.+)\)$/.exec(path) ?? [];
      const table = bySet(set);
      if (table === undefined) return missing;
      if (request.method === 'PATCH') return patch(table, reference, request);
      const id = rowOf(table, reference);
      if (id === undefined) return missing;
      if (request.method === 'GET') {
        const asked = parameters.get('$select')?.split(',') ?? [];
        demand(
          asked.every((name) => table.columns.has(name) || name === 'contactid'),
          `$select ${asked}`,
        );
        const row = Object.fromEntries(asked.map((name) => [name, table.rows.get(id)?.[name] ?? null]));
        return { status: 200, body: { ...row, contactid: id } };
      }
      demand(request.method === 'DELETE', request.method);
      table.rows.delete(id);
      for (const { rows } of tables.values())
        for (const row of rows.values()) if (row.innbound_Guest === id) delete row.innbound_Guest;
      return { status: 204 };
    },
    people: () =>
      [...contacts().rows].map(([id, row]) => ({
        id,
        email: text(row.emailaddress1),
        phone: text(row.mobilephone),
        first: text(row.firstname),
        last: text(row.lastname),
        guestId: text(row.innbound_guestid),
        subscribed: row.donotbulkemail === undefined ? undefined : row.donotbulkemail === false,
        text: JSON.stringify(row),
      })),
    stays: () =>
      [...(tables.get('innbound_stay')?.rows.values() ?? [])].map((row) => ({
        key: String(row.innbound_staykey),
        status: row.innbound_status,
        checkIn: row.innbound_checkin,
        amount: text(row.innbound_amount),
        nights: row.innbound_nights,
        channel: row.innbound_channel,
        brand: row.innbound_brand,
        guest: text(row.innbound_Guest),
      })),
    moments: () =>
      [...(tables.get('innbound_moment')?.rows.values() ?? [])].map((row) => ({
        id: String(row.innbound_momentid),
        kind: String(row.innbound_kind),
        guest: text(row.innbound_Guest),
      })),
    forget: () => contacts().rows.clear(),
    unsubscribe: (email) => {
      for (const row of contacts().rows.values()) if (row.emailaddress1 === email) row.donotbulkemail = true;
    },
    seed(email) {
      contacts().rows.set(newId(), { emailaddress1: email, lastname: 'Known' });
    },
  };
}
