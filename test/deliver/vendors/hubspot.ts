import type { Received, Reply } from '../http-server.ts';
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
} from './account.ts';

interface Contact {
  readonly id: string;
  properties: Record<string, string>;
  emails: string[];
  subscribed?: boolean;
}

interface Property {
  readonly name: string;
  readonly type: string;
  readonly hasUniqueValue?: boolean;
}

const portal = '4711';

/** Contacts by e-mail (unique, with secondary addresses after a merge), custom objects and events that have to be defined first. */
export function hubspotAccount(): Account {
  const contacts = new Map<string, Contact>();
  const properties = new Set(['email', 'firstname', 'lastname', 'phone']);
  const groups = new Set(['contactinformation']);
  const objects = new Map<string, { properties: Property[]; records: Map<string, Record<string, string>> }>();
  const definitions = new Map<string, { properties: Property[]; schema: Body }>();
  /** The contacts of each stay. */
  const associations = new Map<string, Set<string>>();
  const events: Body[] = [];
  const byEmail = (email: unknown) =>
    [...contacts.values()].find(({ emails }) => emails.includes(String(email).toLowerCase()));
  const missing: Reply = { status: 404, body: { status: 'error', category: 'OBJECT_NOT_FOUND', message: 'not found' } };

  function upsertContacts(inputs: Body[]): Reply {
    demand(inputs.length > 0 && inputs.length <= 100, 'inputs');
    demand(new Set(inputs.map(({ id }) => String(id).toLowerCase())).size === inputs.length, 'duplicate ids');
    const results = inputs.map(({ id, idProperty, objectWriteTraceId, properties: given, ...rest }) => {
      demand(idProperty === 'email' && isAddress(id) && Object.keys(rest).length === 0, 'input');
      demand(objectWriteTraceId === id, 'trace');
      only(given, [...properties], 'PROPERTY_DOESNT_EXIST');
      demand(
        Object.values(given as Body).every((value) => typeof value === 'string'),
        'values are texts',
      );
      const email = String(id).toLowerCase();
      const contact: Contact = byEmail(email) ?? { id: newId(), properties: {}, emails: [email] };
      contacts.set(contact.id, contact);
      contact.properties = changed(contact.properties, given as Body) as Record<string, string>;
      return { id: contact.id, objectWriteTraceId, properties: { email: contact.emails[0] }, new: true };
    });
    return { status: 200, body: { status: 'COMPLETE', results } };
  }

  function upsertStays(name: string, inputs: Body[]): Reply {
    const object = objects.get(name);
    if (object === undefined) return missing;
    demand(inputs.length > 0 && inputs.length <= 100, 'inputs');
    const results = inputs.map(({ id, idProperty, properties: given }) => {
      const unique = object.properties.find((one) => one.name === idProperty);
      demand(unique?.hasUniqueValue === true, 'idProperty is not unique');
      for (const [key, value] of Object.entries(given as Body)) {
        const property = object.properties.find((one) => one.name === key);
        demand(property !== undefined && typeof value === 'string', `PROPERTY_DOESNT_EXIST ${key}`);
        if (property.type === 'date') demand(value === '' || isDate(value), key);
        if (property.type === 'number') demand(!Number.isNaN(Number(value)), key);
      }
      const known = [...object.records].find(([, record]) => record[String(idProperty)] === id);
      const recordId = known?.[0] ?? newId();
      object.records.set(recordId, changed(known?.[1], given as Body) as Record<string, string>);
      return { id: recordId, properties: { [String(idProperty)]: id } };
    });
    return { status: 200, body: { status: 'COMPLETE', results } };
  }

  function crm({ method, body }: Received, path: string, query: URLSearchParams): Reply {
    const given = (body ?? {}) as Body;
    if (path === '/crm/v3/objects/contacts/batch/upsert') return upsertContacts(given.inputs as Body[]);
    if (path === '/crm/v3/objects/contacts/gdpr-delete') {
      demand(given.idProperty === 'email' && isAddress(given.objectId), 'gdpr-delete');
      const contact = byEmail(given.objectId);
      if (contact === undefined) return missing;
      contacts.delete(contact.id);
      for (const guests of associations.values()) guests.delete(contact.id);
      return { status: 204 };
    }
    if (path === '/crm/v3/objects/contacts/merge') {
      only(given, ['primaryObjectId', 'objectIdToMerge'], 'merge');
      const [keep, gone] = [contacts.get(String(given.primaryObjectId)), contacts.get(String(given.objectIdToMerge))];
      demand(keep !== undefined && gone !== undefined && keep !== gone, 'merge');
      keep.emails.push(...gone.emails);
      if (gone.subscribed === false) keep.subscribed = false;
      for (const guests of associations.values()) if (guests.delete(gone.id)) guests.add(keep.id);
      contacts.delete(gone.id);
      return { status: 200, body: { id: keep.id } };
    }
    const single = /^\/crm\/v3\/objects\/contacts\/([^/]+)$/.exec(path);
    if (single) {
      const id = decodeURIComponent(single[1] ?? '');
      const contact = query.get('idProperty') === 'email' ? byEmail(id) : contacts.get(id);
      if (contact === undefined) return missing;
      if (method === 'GET') return { status: 200, body: { id: contact.id, properties: contact.properties } };
      demand(method === 'PATCH', method);
      const email = (given.properties as Body).email;
      if (![undefined, contact].includes(byEmail(email)))
        return { status: 409, body: { category: 'CONFLICT', message: 'Contact already exists. Existing ID: 1' } };
      Object.assign(contact.properties, given.properties);
      contact.emails = [String(email)];
      return { status: 200, body: { id: contact.id } };
    }
    const upsert = /^\/crm\/v3\/objects\/(p\w+)\/batch\/upsert$/.exec(path);
    if (upsert) return upsertStays(upsert[1] ?? '', given.inputs as Body[]);
    const archive = /^\/crm\/v4\/associations\/p\w+\/contacts\/batch\/archive$/.exec(path);
    if (archive) {
      for (const { from, to } of given.inputs as { from: { id: string }; to: { id: string }[] }[])
        for (const { id } of to) associations.get(from.id)?.delete(id);
      return { status: 204 };
    }
    const associate = /^\/crm\/v4\/associations\/(p\w+)\/contacts\/batch\/associate\/default$/.exec(path);
    demand(associate !== null, path);
    for (const { from, to } of given.inputs as { from: { id: string }; to: { id: string } }[]) {
      demand(objects.get(associate[1] ?? '')?.records.has(from.id) === true && contacts.has(to.id), 'association');
      associations.set(from.id, (associations.get(from.id) ?? new Set()).add(to.id));
    }
    return { status: 200, body: { status: 'COMPLETE', results: [] } };
  }

  /** Properties, custom objects and event definitions. */
  function define({ method, body }: Received, path: string, query: URLSearchParams): Reply | undefined {
    const given = (body ?? {}) as Body;
    const property = /^\/crm\/v3\/properties\/contacts(\/groups)?(?:\/(\w+))?$/.exec(path);
    if (property) {
      const [kind, known] = property[1] ? ['group', groups] : ['property', properties];
      if (method === 'GET')
        return known.has(property[2] ?? '') ? { status: 200, body: { name: property[2] } } : missing;
      demand(method === 'POST' && /^[a-z]\w*$/.test(String(given.name)) && given.label !== undefined, kind);
      if (known.has(String(given.name))) return { status: 409, body: { message: 'exists' } };
      const kinds = { string: 'text', number: 'number', date: 'date' } as Record<string, string>;
      if (kind === 'property') demand(kinds[String(given.type)] === given.fieldType, 'type of a property');
      if (kind === 'property') demand(groups.has(String(given.groupName)), 'property');
      known.add(String(given.name));
      return { status: 201, body: given };
    }
    const schema = /^\/crm-object-schemas\/v3\/schemas(?:\/(\w+))?$/.exec(path);
    if (schema) {
      if (method === 'GET') {
        const results = [...objects.keys()].map((name) => ({
          name: name.replace(`p${portal}_`, ''),
          fullyQualifiedName: name,
        }));
        return { status: 200, body: { results } };
      }
      demand(method === 'POST' && JSON.stringify(given.associatedObjects) === '["CONTACT"]', 'schema');
      const list = given.properties as unknown as Property[];
      demand(
        list.some(({ name }) => name === given.primaryDisplayProperty),
        'primaryDisplayProperty',
      );
      const name = `p${portal}_${given.name}`;
      objects.set(name, { properties: list, records: new Map() });
      return { status: 201, body: { ...given, fullyQualifiedName: name } };
    }
    if (path !== '/events/v3/event-definitions') return undefined;
    if (method === 'GET') {
      const results = [...definitions.values()].map((one) => one.schema);
      return {
        status: 200,
        body: { results: results.filter(({ name }) => String(name).includes(query.get('searchString') ?? '')) },
      };
    }
    demand(given.primaryObject === 'CONTACT' && given.label !== undefined, 'definition');
    demand(typeof given.includeDefaultProperties === 'boolean', 'includeDefaultProperties');
    const name = `pe${portal}_${given.name}`;
    const one = { ...given, fullyQualifiedName: name };
    definitions.set(name, { properties: given.propertyDefinitions as unknown as Property[], schema: one });
    return { status: 201, body: one };
  }

  return {
    preset: 'hubspot',
    takesPhones: false,
    keepsStays: true,
    onConflict: 'merged',
    variables: (url) => ({ base_url: url, subscription_id: '123' }),
    answer(request) {
      const { path, query } = split(request.path);
      const given = (request.body ?? {}) as Body;
      const defined = define(request, path, query);
      if (defined) return defined;
      if (path === '/events/v3/events') {
        const email = query.get('objectProperty.email') ?? '';
        const results = events.filter((one) => one.email === email && one.eventName === query.get('eventType'));
        return { status: 200, body: { results: results.map((one, i) => ({ id: `e${i}`, ...one })) } };
      }
      if (path === '/events/v3/send') {
        const definition = definitions.get(String(given.eventName));
        demand(definition !== undefined, 'event is not defined');
        only(
          given.properties,
          definition.properties.map(({ name }) => name),
          'event properties',
        );
        only(given, ['eventName', 'email', 'occurredAt', 'uuid', 'properties'], 'event');
        demand(isAddress(given.email) && isInstant(given.occurredAt), 'event');
        const dates = [(given.properties as Body).check_in, (given.properties as Body).check_out];
        demand(
          dates.every((date) => /^\d{13}$/.test(String(date))),
          'a date of an event is a time in milliseconds',
        );
        events.push(given);
        return { status: 204 };
      }
      if (path === '/communication-preferences/v4/statuses/batch/write') {
        const inputs = given.inputs as Body[];
        demand(inputs.length > 0 && inputs.length <= 100, 'inputs');
        for (const { subscriberIdString: email, statusState: state, subscriptionId, channel, ...rest } of inputs) {
          const contact = byEmail(email);
          demand(contact !== undefined, 'subscriber');
          only(rest, ['legalBasis', 'legalBasisExplanation'], 'status');
          demand(['SUBSCRIBED', 'UNSUBSCRIBED'].includes(String(state)) && channel === 'EMAIL', 'status');
          demand(typeof subscriptionId === 'number', 'subscription');
          contact.subscribed = state === 'SUBSCRIBED';
        }
        return { status: 200, body: { status: 'COMPLETE', results: [] } };
      }
      return crm(request, path, query);
    },
    people: () =>
      [...contacts.values()].map(({ id, properties: own, emails, subscribed }) => ({
        id,
        email: emails[0],
        phone: own.phone,
        first: own.firstname,
        last: own.lastname,
        guestId: own.innbound_guest_id,
        subscribed,
        text: JSON.stringify(own),
      })),
    stays: () =>
      [...objects.values()].flatMap(({ records }) =>
        [...records].map(([id, stay]) => ({
          key: stay.stay_key ?? '',
          status: stay.status,
          checkIn: stay.check_in,
          amount: stay.total_amount,
          nights: Number(stay.nights),
          channel: stay.channel,
          brand: stay.brand,
          guest: [...(associations.get(id) ?? [])].join() || undefined,
        })),
      ),
    moments: () =>
      events.map(({ eventName, email, properties: own }) => ({
        id: String((own as Body).moment_id),
        kind: String(eventName).replace(`pe${portal}_innbound_`, ''),
        guest: byEmail(email)?.id,
      })),
    unsubscribe: (email) => {
      const contact = byEmail(email);
      if (contact) contact.subscribed = false;
    },
    sharesStays: true,
    seed(email) {
      const id = newId();
      contacts.set(id, { id, properties: { email }, emails: [email] });
    },
  };
}
