import type { Reply } from '../http-server.ts';
import {
  type Account,
  type Body,
  changed,
  demand,
  isAddress,
  isDate,
  isInstant,
  newId,
  only,
  split,
  text,
} from './account.ts';

const root = '/services/data/v61.0';
const failed = (statusCode: string, message = statusCode) => ({
  success: false,
  errors: [{ statusCode, message, fields: [] }],
});
const standard: Record<string, string> = {
  Email: 'Text80',
  FirstName: 'Text40',
  LastName: 'Text80',
  Phone: 'Text40',
  Birthdate: 'Date',
  HasOptedOutOfEmail: 'Checkbox',
};

interface Sobject {
  /** Field names with their types. */
  readonly fields: Record<string, string>;
  readonly keys: Set<string>;
  readonly records: Map<string, Body>;
}

/** Contacts and custom objects with typed fields; upserts by an external id; custom objects are created by hand, fields by the Tooling API. */
export function salesforceAccount(): Account {
  const custom = (): Sobject => ({ fields: { Name: 'Text80' }, keys: new Set(), records: new Map() });
  const objects: Record<string, Sobject> = {
    Contact: { fields: { ...standard }, keys: new Set(), records: new Map() },
    Innbound_Stay__c: custom(),
    Innbound_Moment__c: custom(),
  };
  const contacts = (): Sobject => objects.Contact as Sobject;
  const find = ({ records }: Sobject, key: string, value: unknown) =>
    [...records.entries()].find(([, one]) => String(one[key] ?? '').toLowerCase() === String(value).toLowerCase());

  function check(object: Sobject, record: Body): string | undefined {
    for (const [name, value] of Object.entries(record)) {
      if (name === 'attributes' || name === 'id') continue;
      const type = object.fields[name.replace(/__r$/, '__c')];
      demand(type !== undefined, `INVALID_FIELD ${name}`);
      const [, kind, length] = /^([A-Za-z_,]+?)(\d*)$/.exec(type) ?? [];
      // A text of a contact is emptied by an empty text; its date takes a date only. Fields of our own objects are emptied by null.
      if (value === null && (object !== contacts() || name.endsWith('__c'))) continue;
      if (kind === 'Text') demand(typeof value === 'string' && value.length <= Number(length || 255), name);
      if (kind?.startsWith('Picklist'))
        demand(kind.slice(8).split(',').includes(String(value)), `INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST ${value}`);
      if (kind === 'Date') demand(isDate(value), name);
      if (kind === 'DateTime') demand(isInstant(value), name);
      if (kind === 'Number') demand(typeof value === 'number', name);
      if (kind === 'Checkbox') demand(typeof value === 'boolean', name);
      if (kind === 'Lookup') {
        demand(name.endsWith('__r') && !Object.hasOwn(record, name.replace(/__r$/, '__c')), `${name} twice`);
        const { attributes, ...key } = value as { attributes: { type: string } } & Body;
        const [[field, wanted] = []] = Object.entries(key);
        const target = objects[attributes.type];
        demand(target !== undefined, `${name}: no object`);
        demand(target.keys.has(field ?? ''), `${name} is not an external id`);
        const found = find(target, field ?? '', wanted);
        if (found === undefined) return `Foreign key external ID: ${wanted} not found for field ${field}`;
        record[name.replace(/__r$/, '__c')] = found[0];
        delete record[name];
      }
    }
    return undefined;
  }

  function upsert(name: string, key: string, { allOrNone, records, ...more }: Body): Reply {
    const object = objects[name];
    if (object === undefined) return { status: 404, body: [{ errorCode: 'NOT_FOUND', message: name }] };
    const list = records as Body[];
    demand(allOrNone === false && Object.keys(more).length === 0 && list.length <= 200, 'envelope');
    demand(object.keys.has(key), `${key} is not an external id`);
    const results = list.map((record) => {
      demand(
        (record.attributes as Body).type === name && !('Id' in record) && typeof record[key] === 'string',
        'record',
      );
      const broken = check(object, record);
      if (broken) return failed('INVALID_FIELD', broken);
      const known = find(object, key, record[key]);
      if (!known && name === 'Contact' && record.LastName === undefined) return failed('REQUIRED_FIELD_MISSING');
      const id = known?.[0] ?? newId();
      const { attributes: _, ...fields } = record;
      if (fields.Email) demand(isAddress(fields.Email), 'INVALID_EMAIL_ADDRESS');
      object.records.set(id, changed(known?.[1], fields));
      return { id, success: true, errors: [], created: !known };
    });
    return { status: 200, body: results };
  }

  function update({ records }: Body): Reply {
    const results = (records as Body[]).map((record) => {
      const object = objects[String((record.attributes as Body).type)];
      const known = object?.records.get(String(record.id));
      if (object === undefined || known === undefined) return failed('ENTITY_IS_DELETED');
      check(object, record);
      const { attributes: _, id, ...fields } = record;
      const clash = [...object.keys].some((key) => fields[key] !== undefined && find(object, key, fields[key]));
      if (clash) return failed('DUPLICATE_VALUE');
      object.records.set(String(id), changed(known, fields));
      return { id, success: true, errors: [] };
    });
    return { status: 200, body: results };
  }

  function query(soql: string): Reply {
    const wanted = [...soql.matchAll(/'((?:[^'\\]|\\.)*)'/g)].map(([, one]) => one?.toLowerCase());
    const byKey = /^SELECT ([\w,]+) FROM Contact WHERE (\w+__c) IN \((.+)\)$/.exec(soql);
    if (byKey) {
      const [, fields = '', key = ''] = byKey;
      const records = [...contacts().records]
        .filter(([, one]) => wanted.includes(String(one[key]).toLowerCase()))
        .map(([Id, one]) => {
          const asked = fields.split(',').map((name) => [name, name === 'Id' ? Id : (one[name] ?? null)]);
          return { attributes: { type: 'Contact' }, ...Object.fromEntries(asked) } as Body;
        });
      return { status: 200, body: { totalSize: records.length, done: true, records } } as Reply;
    }
    const form = /^SELECT Id,Email FROM Contact WHERE (\w+)=null AND Email IN \((.+)\) ORDER BY CreatedDate$/.exec(
      soql,
    );
    demand(form !== null, `MALFORMED_QUERY ${soql}`);
    const records = [...contacts().records]
      .filter(([, one]) => one[form[1] ?? ''] === undefined && wanted.includes(String(one.Email).toLowerCase()))
      .map(([Id, one]) => ({ Id, Email: one.Email }));
    return { status: 200, body: { totalSize: records.length, done: true, records } };
  }

  /** Only fields can be created by the Tooling API. */
  function createField({ FullName: full, Metadata: meta, ...more }: Body): Reply {
    only(more, [], 'field');
    const [name = '', field = ''] = String(full).split('.');
    const { type, length, externalId, unique, referenceTo, label, valueSet } = meta as Body;
    const object = objects[name];
    demand(object !== undefined && /__c$/.test(field) && label !== undefined, 'field');
    if (object.fields[field])
      return { status: 400, body: [{ errorCode: 'DUPLICATE_DEVELOPER_NAME', message: 'exists' }] };
    if (type === 'Lookup') demand(objects[String(referenceTo)] !== undefined, 'referenceTo');
    const { value: values = [] } = ((valueSet as Body | undefined)?.valueSetDefinition ?? {}) as { value?: Body[] };
    if (type === 'Picklist') demand(values.length > 0 && values.every((one) => one.fullName && one.label), 'values');
    const detail = type === 'Text' ? length : type === 'Picklist' ? values.map((one) => one.fullName) : '';
    object.fields[field] = `${type}${detail}`;
    if (externalId === true && unique === true) object.keys.add(field);
    return { status: 201, body: { id: newId(), success: true, errors: [] } };
  }

  function describe(name: string): Reply {
    const object = objects[name];
    if (object === undefined) return { status: 404, body: [{ errorCode: 'NOT_FOUND', message: name }] };
    return { status: 200, body: { name, fields: Object.keys(object.fields).map((field) => ({ name: field })) } };
  }

  return {
    preset: 'salesforce',
    takesPhones: true,
    keepsStays: true,
    keepsBirthDates: true,
    onConflict: 'both',
    variables: (url) => ({ instance_url: url }),
    answer({ method, path: whole, body }) {
      const { path, query: parameters } = split(whole);
      demand(path.startsWith(root), path);
      const rest = path.slice(root.length);
      if (rest === '/query') return query(parameters.get('q') ?? '');
      if (rest === '/tooling/sobjects/CustomField') return createField(body as Body);
      const described = /^\/sobjects\/(\w+)\/describe$/.exec(rest);
      if (described) return describe(described[1] ?? '');
      if (rest === '/composite/sobjects') return update(body as Body);
      const many = /^\/composite\/sobjects\/(\w+)\/(\w+)$/.exec(rest);
      if (many && method === 'PATCH') return upsert(many[1] ?? '', many[2] ?? '', body as Body);
      const one = /^\/sobjects\/Contact\/(?:(\w+__c)\/)?([^/]+)$/.exec(rest);
      demand(one !== null, path);
      const value = decodeURIComponent(one[2] ?? '');
      // As documented: a value that ends in .inc is not found by the path.
      if (one[1] && value.endsWith('.inc')) return { status: 404, body: [{ errorCode: 'NOT_FOUND', message: 'no' }] };
      const known = one[1] ? find(contacts(), one[1], value)?.[0] : contacts().records.has(value) ? value : undefined;
      if (known === undefined) return { status: 404, body: [{ errorCode: 'NOT_FOUND', message: 'not found' }] };
      if (method === 'GET') return { status: 200, body: { Id: known } };
      if (method === 'DELETE') {
        contacts().records.delete(known);
        // A deleted contact leaves its lookups empty.
        for (const { records } of Object.values(objects))
          for (const [id, { Guest__c: guest, ...rest }] of records)
            records.set(id, guest === known ? rest : { ...rest, ...(guest !== undefined && { Guest__c: guest }) });
        return { status: 204 };
      }
      demand(method === 'PATCH', method);
      const [result] = update({ records: [{ attributes: { type: 'Contact' }, id: known, ...(body as Body) }] })
        .body as Body[];
      if (result?.success === true) return { status: 204 };
      const [error] = (result?.errors ?? []) as Body[];
      return { status: 400, body: [{ errorCode: error?.statusCode, message: error?.message }] };
    },
    people: () =>
      [...contacts().records].map(([id, one]) => ({
        id,
        email: text(one.Email),
        phone: text(one.Phone),
        first: text(one.FirstName),
        last: text(one.LastName),
        subscribed: one.HasOptedOutOfEmail === undefined ? undefined : one.HasOptedOutOfEmail === false,
        text: JSON.stringify(one),
      })),
    stays: () =>
      [...(objects.Innbound_Stay__c?.records.values() ?? [])].map((one) => ({
        key: String(one.Innbound_Key__c),
        status: one.Status__c,
        checkIn: one.Check_In__c,
        amount: text(one.Amount__c),
        nights: one.Nights__c,
        channel: one.Channel__c,
        brand: one.Brand__c,
        guest: text(one.Guest__c),
        text: JSON.stringify(one),
      })),
    moments: () =>
      [...(objects.Innbound_Moment__c?.records.values() ?? [])].map((one) => ({
        id: String(one.Innbound_Key__c),
        kind: String(one.Kind__c),
        guest: text(one.Guest__c),
      })),
    forget: () => contacts().records.clear(),
    unsubscribe: (email) => {
      for (const one of contacts().records.values()) if (one.Email === email) one.HasOptedOutOfEmail = true;
    },
    seed(email) {
      demand(isAddress(email), email);
      contacts().records.set(newId(), { Email: email, LastName: 'Known' });
    },
  };
}
