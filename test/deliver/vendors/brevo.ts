import type { Received, Reply } from '../http-server.ts';
import { type Account, type Body, demand, isAddress, isInstant, isPhone, newId, only, split, text } from './account.ts';

interface Contact {
  readonly id: string;
  email?: string;
  sms?: string;
  blocked: boolean;
  attributes: Body;
  readonly lists: Set<string>;
}

const missing: Reply = { status: 404, body: { code: 'document_not_found', message: 'Contact does not exist' } };
const refused = (code: string, message: string): Reply => ({ status: 400, body: { code, message } });

/** Contacts by e-mail or number, each unique. A changed address takes a contact off the blocklist. Undefined attributes are ignored. */
export function brevoAccount(): Account {
  const contacts = new Map<string, Contact>();
  const attributes = new Set(['FIRSTNAME', 'LASTNAME', 'SMS', 'EMAIL']);
  const stays = new Map<string, Body>();
  const links = new Map<string, string>();
  const events: Body[] = [];
  const by = (kind: string | null, value: unknown) =>
    [...contacts.values()].find((one) =>
      kind === 'phone_id' ? one.sms === value : kind === 'contact_id' ? one.id === value : one.email === value,
    );

  function change(contact: Contact, { attributes: given = {}, emailBlacklisted: blocked }: Body): Reply | undefined {
    const { EMAIL: email, SMS: sms, ...rest } = given as Body;
    if (email !== undefined && email !== contact.email) {
      if (by('email_id', email))
        return refused('duplicate_parameter', 'email is already associated with another Contact');
      contact.email = String(email);
      contact.blocked = false;
    }
    if (sms !== undefined) {
      demand(isPhone(sms), 'SMS');
      const other = by('phone_id', sms);
      if (other && other !== contact)
        return refused('duplicate_parameter', 'SMS is already associated with another Contact');
      contact.sms = String(sms);
    }
    if (blocked !== undefined) contact.blocked = blocked === true;
    for (const [name, value] of Object.entries(rest))
      if (attributes.has(name)) contact.attributes[name] = value === '' ? null : value;
    return undefined;
  }

  function create(given: Body): Reply {
    const { email, updateEnabled: updates, attributes: own, ...rest } = given;
    only(rest, ['emailBlacklisted', 'listIds', 'ext_id'], 'contact');
    const { SMS: sms } = own as Body;
    demand(updates === true && (email !== undefined || sms !== undefined), 'contact');
    demand(email === undefined || isAddress(email), 'email');
    const known = email === undefined ? by('phone_id', sms) : by('email_id', email);
    const contact: Contact = known ?? { id: newId(), blocked: false, attributes: {}, lists: new Set() };
    if (!known && email !== undefined) contact.email = String(email);
    const broken = change(contact, given);
    if (broken) return broken;
    contacts.set(contact.id, contact);
    return known ? { status: 204 } : { status: 201, body: { id: Number(contact.id) } };
  }

  function upsertStays({ records }: Body): Reply {
    for (const { identifiers, attributes: own, associations, ...rest } of records as Body[]) {
      only(rest, [], 'record');
      const key = String((identifiers as Body).ext_id);
      stays.set(key, { ...stays.get(key), ...(own as Body) });
      for (const { object_type: type, records: others } of associations as Body[]) {
        const [other] = others as { identifiers: { id: number } }[];
        demand(type === 'contact' && typeof other?.identifiers.id === 'number', 'association');
        demand(contacts.has(String(other.identifiers.id)), 'both records must exist');
        links.set(key, String(other.identifiers.id));
      }
    }
    return { status: 202, body: { processId: 1, message: 'ok' } };
  }

  function addEvent({
    event_name: name,
    event_date: date,
    identifiers,
    event_properties: properties,
    ...rest
  }: Body): Reply {
    only(rest, [], 'event');
    only(identifiers, ['email_id', 'phone_id'], 'identifiers');
    demand(/^[\w-]{1,255}$/.test(String(name)) && isInstant(date), 'event');
    const { email_id: email, phone_id: phone } = identifiers as Body;
    const contact = email === undefined ? by('phone_id', phone) : by('email_id', email);
    events.push({ event_name: name ?? '', event_properties: properties ?? {}, contact_id: contact?.id ?? '' });
    return { status: 204 };
  }

  function ofAttributes({ method, body }: Received, name: string | undefined): Reply {
    if (method === 'GET')
      return { status: 200, body: { attributes: [...attributes].map((one) => ({ name: one, category: 'normal' })) } };
    demand(method === 'POST' && name !== undefined, 'attribute');
    demand(['text', 'float', 'date'].includes(String((body as Body).type)), 'type of an attribute');
    attributes.add(name);
    return { status: 201 };
  }

  function ofContact({ method, body }: Received, contact: Contact | undefined): Reply {
    if (contact === undefined) return missing;
    if (method === 'GET') {
      const { id, email, sms, blocked } = contact;
      const attributes = { ...contact.attributes, ...(sms !== undefined && { SMS: sms }) };
      return { status: 200, body: { id: Number(id), email, emailBlacklisted: blocked, attributes } };
    }
    if (method === 'DELETE') {
      contacts.delete(contact.id);
      for (const [key, id] of links) if (id === contact.id) links.delete(key);
      return { status: 204 };
    }
    demand(method === 'PUT', method);
    return change(contact, body as Body) ?? { status: 204 };
  }

  return {
    preset: 'brevo',
    takesPhones: true,
    keepsStays: true,
    keepsOldValues: true,
    onConflict: 'both',
    variables: (url) => ({ base_url: `${url}/v3`, list_id: '5', stay_object: 'innbound_stay' }),
    answer(request) {
      const { path, query } = split(request.path);
      const given = (request.body ?? {}) as Body;
      if (path === '/v3/contacts') return create(given);
      const attribute = /^\/v3\/contacts\/attributes(?:\/normal\/(\w+))?$/.exec(path);
      if (attribute) return ofAttributes(request, attribute[1]);
      if (path === '/v3/contacts/lists/5/contacts/add') {
        const emails = given.emails as string[];
        demand(emails.length > 0 && emails.length <= 150, 'emails');
        const added = emails.filter((email) => by('email_id', email)?.lists.has('5') === false);
        if (added.length === 0) return refused('invalid_parameter', 'Contact already in list and/or does not exist');
        for (const email of added) by('email_id', email)?.lists.add('5');
        const failure = emails.filter((email) => !added.includes(email));
        return { status: 201, body: { contacts: { success: added, failure } } };
      }
      if (path === '/v3/objects/innbound_stay/batch/upsert') return upsertStays(given);
      if (path === '/v3/events' && request.method === 'POST') return addEvent(given);
      if (path === '/v3/events') {
        const wanted = [query.get('contact_id'), query.get('event_name')];
        const found = events.filter((one) => one.contact_id === wanted[0] && one.event_name === wanted[1]);
        return { status: 200, body: { count: found.length, events: found } };
      }
      const contact = /^\/v3\/contacts\/([^/]+)$/.exec(path);
      demand(contact !== null, path);
      return ofContact(request, by(query.get('identifierType'), decodeURIComponent(contact[1] ?? '')));
    },
    people: () =>
      [...contacts.values()].map(({ id, email, sms, blocked, attributes: own, lists }) => ({
        id,
        email,
        phone: sms,
        first: text(own.FIRSTNAME),
        last: text(own.LASTNAME),
        guestId: text(own.INNBOUND_GUEST_ID),
        subscribed: blocked ? false : lists.has('5') ? true : undefined,
        text: JSON.stringify(own),
      })),
    stays: () =>
      [...stays].map(([key, one]) => ({
        key,
        status: one.status,
        checkIn: one.check_in,
        amount: text(one.total_amount),
        nights: one.nights,
        channel: one.channel,
        brand: one.brand,
        guest: links.get(key),
      })),
    moments: () =>
      events.map(({ event_name: name, event_properties: own, contact_id: guest }) => ({
        id: String((own as Body).moment_id),
        kind: String(name).replace('innbound_', ''),
        guest: String(guest),
      })),
    unsubscribe: (email) => {
      for (const contact of contacts.values()) if (contact.email === email) contact.blocked = true;
    },
    seed(email) {
      const id = newId();
      contacts.set(id, { id, email, blocked: false, attributes: {}, lists: new Set() });
    },
  };
}
