import type { Received, Reply } from '../http-server.ts';
import {
  type Account,
  type Body,
  changed,
  demand,
  isAddress,
  isInstant,
  isPhone,
  newId,
  only,
  split,
  text,
} from './account.ts';

interface Profile {
  readonly id: string;
  attributes: Body;
  subscribed?: boolean;
}

type Resource = { type: string; id?: string; attributes: Body; relationships?: Record<string, { data: unknown }> };

const failed = (status: number, code: string): Reply => ({
  status,
  body: { errors: [{ id: '1', code, title: code, detail: code }] },
});

/** Profiles by e-mail, phone number or external id, each unique; events once per profile, metric and unique_id. */
export function klaviyoAccount(): Account {
  const profiles = new Map<string, Profile>();
  const events = new Map<string, { id: string; kind: string; guest: string }>();
  const sources = new Map<string, string>();
  const records = new Map<string, Body>();
  const by = (key: string, value: unknown) =>
    value == null ? undefined : [...profiles.values()].find(({ attributes }) => attributes[key] === value);
  const identified = (given: Body) => by('email', given.email) ?? by('phone_number', given.phone_number);

  function importProfile({ type, attributes }: Resource): Reply {
    const known = ['email', 'phone_number', 'external_id', 'first_name', 'last_name', 'properties'];
    only(attributes, known, 'attributes');
    const { email, phone_number: phone, external_id: external } = attributes;
    demand(type === 'profile' && Boolean(email ?? phone ?? external), 'identifier');
    demand(email == null || isAddress(email), 'email');
    demand(phone == null || isPhone(phone), 'phone');
    // A profile with the number is taken over by another address, and an identifier of two profiles is a conflict.
    const profile = by('email', email) ?? by('phone_number', phone) ?? { id: newId(), attributes: {} };
    for (const other of [by('phone_number', phone), by('external_id', external)])
      if (other !== undefined && other !== profile) return failed(409, 'duplicate_profile');
    const properties = changed(profile.attributes.properties as Body, attributes.properties as Body);
    profile.attributes = changed(profile.attributes, { ...attributes, properties });
    const isNew = !profiles.has(profile.id);
    profiles.set(profile.id, profile);
    return { status: isNew ? 201 : 200, body: { data: { type: 'profile', id: profile.id } } };
  }

  function find(query: URLSearchParams): Reply {
    const filter = /^equals\((email|phone_number),"([^"]+)"\)$/.exec(query.get('filter') ?? '');
    demand(filter !== null, 'filter');
    const found = by(filter[1] ?? '', filter[2]);
    return {
      status: 200,
      body: { data: found ? [{ type: 'profile', id: found.id, attributes: found.attributes }] : [] },
    };
  }

  function subscribe({ type, attributes }: Resource, isOn: boolean): Reply {
    demand(type === `profile-subscription-bulk-${isOn ? 'create' : 'delete'}-job`, 'job');
    const { data } = attributes.profiles as unknown as { data: Resource[] };
    demand(data.length > 0 && data.length <= 1000, 'at most 1,000 profiles');
    for (const one of data) {
      const consent = `{"email":{"marketing":{"consent":"${isOn ? 'SUBSCRIBED' : 'UNSUBSCRIBED'}"}}}`;
      demand(JSON.stringify(one.attributes.subscriptions) === consent, 'subscriptions');
      const profile = by('email', one.attributes.email) ?? {
        id: newId(),
        attributes: { email: one.attributes.email ?? '' },
      };
      profile.subscribed = isOn;
      profiles.set(profile.id, profile);
    }
    return { status: 202 };
  }

  function addEvent({ type, attributes }: Resource): Reply {
    const {
      unique_id: id,
      time,
      metric,
      profile,
      ...rest
    } = attributes as unknown as {
      unique_id: string;
      time: string;
      metric: { data: Resource };
      profile: { data: Resource };
    };
    only(rest, ['value', 'value_currency', 'properties'], 'event');
    demand(type === 'event' && isInstant(time) && typeof id === 'string', 'event');
    const who = profile.data.attributes;
    only(who, ['email', 'phone_number'], 'event profile');
    const known = identified(who) ?? { id: newId(), attributes: who };
    profiles.set(known.id, known);
    const kind = String(metric.data.attributes.name);
    const key = `${known.id} ${kind} ${id}`;
    if (!events.has(key)) events.set(key, { id, kind, guest: known.id });
    return { status: 202 };
  }

  function record({ type, attributes, relationships }: Resource): Reply {
    demand(type === 'data-source-record-create-job', 'record job');
    const source = (relationships?.['data-source']?.data ?? {}) as { type?: string; id?: string };
    demand(source.type === 'data-source', 'data source');
    if (!sources.has(source.id ?? '')) return failed(404, 'not_found');
    const { data } = attributes['data-source-record'] as unknown as { data: Resource };
    const one = data.attributes.record as Body;
    records.set(String(one.reservation_key), one);
    return { status: 204 };
  }

  function dataSources({ method, body }: Received): Reply {
    if (method === 'GET') {
      const data = [...sources].map(([id, title]) => ({ type: 'data-source', id, attributes: { title } }));
      return { status: 200, body: { data } };
    }
    const { type, attributes } = (body as unknown as { data: Resource }).data;
    only(attributes, ['title', 'visibility', 'description', 'namespace'], 'data source');
    demand(type === 'data-source' && typeof attributes.title === 'string', 'data source');
    const id = `01DATA${newId()}`;
    sources.set(id, attributes.title);
    return { status: 201, body: { data: { type, id, attributes } } };
  }

  function change(path: string, { type, id, attributes }: Resource): Reply {
    const profile = profiles.get(path.split('/').at(-1) ?? '');
    demand(type === 'profile' && id === profile?.id, 'profile id');
    if (profile === undefined) return failed(404, 'not_found');
    for (const key of ['email', 'phone_number']) {
      const other = by(key, attributes[key]);
      if (other !== undefined && other !== profile) return failed(409, 'duplicate_profile');
    }
    profile.attributes = { ...profile.attributes, ...attributes };
    return { status: 200, body: { data: { type, id } } };
  }

  function merge({ type, id = '', relationships }: Resource): Reply {
    const [source] = (relationships?.profiles?.data ?? []) as Resource[];
    const [keep, gone] = [profiles.get(id), profiles.get(source?.id ?? '')];
    demand(type === 'profile-merge' && id !== source?.id, 'merge');
    if (keep === undefined || gone === undefined) return failed(404, 'not_found');
    keep.attributes = { ...gone.attributes, ...keep.attributes };
    for (const event of events.values()) if (event.guest === gone.id) event.guest = keep.id;
    profiles.delete(gone.id);
    return { status: 201, body: { data: { type: 'profile', id } } };
  }

  function remove({ type, attributes }: Resource): Reply {
    const { data } = attributes.profile as unknown as { data: Resource };
    demand(type === 'data-privacy-deletion-job' && data.type === 'profile', 'deletion');
    demand(Object.keys(data.attributes).length === 1, 'one identifier');
    const profile = identified(data.attributes);
    if (profile) profiles.delete(profile.id);
    return { status: 202 };
  }

  return {
    preset: 'klaviyo',
    takesPhones: true,
    keepsStays: true,
    onConflict: 'merged',
    variables: (url) => ({ base_url: url }),
    answer(request) {
      const { path, query } = split(request.path);
      demand(/^\d{4}-\d{2}-\d{2}$/.test(String(request.headers.revision)), 'revision');
      if (path === '/api/data-sources') return dataSources(request);
      if (request.method === 'GET') return find(query);
      demand(request.headers['content-type'] === 'application/vnd.api+json', 'content type');
      const { data } = request.body as unknown as { data: Resource };
      if (request.method === 'PATCH' && path.startsWith('/api/profiles/')) return change(path, data);
      demand(request.method === 'POST', request.method);
      if (path === '/api/profile-import') return importProfile(data);
      if (path === '/api/profile-merge') return merge(data);
      if (path === '/api/events') return addEvent(data);
      if (path === '/api/data-source-record-create-jobs') return record(data);
      if (path === '/api/profile-subscription-bulk-create-jobs') return subscribe(data, true);
      if (path === '/api/profile-subscription-bulk-delete-jobs') return subscribe(data, false);
      demand(path === '/api/data-privacy-deletion-jobs', path);
      return remove(data);
    },
    people: () =>
      [...profiles.values()].map(({ id, attributes, subscribed }) => ({
        id,
        email: text(attributes.email),
        phone: text(attributes.phone_number),
        first: text(attributes.first_name),
        last: text(attributes.last_name),
        guestId: text(attributes.external_id),
        subscribed,
        text: JSON.stringify(attributes),
      })),
    stays: () =>
      [...records.values()].map((one) => ({
        key: String(one.reservation_key),
        status: one.status,
        checkIn: one.check_in,
        amount: text(one.total_amount),
        nights: one.nights,
        channel: one.channel,
        brand: one.brand,
        guest: identified(one)?.id,
      })),
    moments: () => [...events.values()].map((one) => ({ ...one, kind: one.kind.toLowerCase().replace(/[ -]/g, '_') })),
    unsubscribe: (email) => {
      const profile = by('email', email);
      if (profile) profile.subscribed = false;
    },
    seed(email) {
      const id = newId();
      profiles.set(id, { id, attributes: { email } });
    },
  };
}
