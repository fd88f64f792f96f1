import { createHash } from 'node:crypto';
import type { Received, Reply } from '../http-server.ts';
import { type Account, type Body, changed, demand, isAddress, isInstant, newId, only, split, text } from './account.ts';

interface Member {
  readonly id: string;
  email: string;
  status: string;
  fields: Body;
  language?: string;
  events: Body[];
}

const hashOf = (email: string): string => createHash('md5').update(email.toLowerCase()).digest('hex');
const missing: Reply = { status: 404, body: { title: 'Resource Not Found', detail: 'not found' } };

/** Members of one audience by the hash of their address; merge fields that have to exist; events without a key. */
export function mailchimpAccount(): Account {
  const members = new Map<string, Member>();
  const gone = new Set<string>();
  const tags = new Set(['FNAME', 'LNAME', 'PHONE']);

  function upsert({ members: given, update_existing: updates, ...rest }: Body): Reply {
    demand(updates === true && Object.keys(rest).length === 0, 'envelope');
    const list = given as Body[];
    demand(list.length > 0 && list.length <= 500, 'members');
    const errors: Body[] = [];
    for (const {
      email_address: email,
      status,
      status_if_new: first,
      merge_fields: fields,
      language,
      ...more
    } of list) {
      only(more, [], 'member');
      const allowed = [undefined, 'subscribed', 'unsubscribed', 'transactional'];
      demand(isAddress(email) && (status !== undefined || first !== undefined), 'member');
      demand(allowed.includes(status as string) && allowed.includes(first as string), 'status');
      only(fields, [...tags], 'merge fields');
      demand(
        Object.values((fields ?? {}) as Body).every((value) => ['string', 'number'].includes(typeof value)),
        'merge fields',
      );
      const hash = hashOf(String(email));
      if (gone.has(hash)) {
        errors.push({ email_address: email ?? null, error: 'permanently deleted', error_code: 'ERROR_GENERIC' });
        continue;
      }
      const known = members.get(hash);
      const member = known ?? {
        id: newId(),
        email: String(email),
        status: String(status ?? first),
        fields: {},
        events: [],
      };
      if (known && status !== undefined) known.status = String(status);
      member.fields = changed(member.fields, fields as Body);
      if (language !== undefined) member.language = String(language);
      members.set(hash, member);
    }
    return { status: 200, body: { new_members: [], updated_members: [], errors, error_count: errors.length } };
  }

  function ofMember({ method, body }: Received, hash: string, rest: string): Reply {
    const member = members.get(hash);
    if (member === undefined) return missing;
    const given = (body ?? {}) as Body;
    if (rest === '/actions/delete-permanent') {
      demand(method === 'POST', method);
      members.delete(hash);
      gone.add(hash);
      return { status: 204 };
    }
    if (rest === '/events') {
      if (method === 'GET') return { status: 200, body: { events: member.events, total_items: member.events.length } };
      only(given, ['name', 'properties', 'is_syncing', 'occurred_at'], 'event');
      demand(/^\w{2,30}$/.test(String(given.name)) && isInstant(given.occurred_at), 'event');
      demand(
        Object.values(given.properties as Body).every((value) => typeof value === 'string'),
        'event properties',
      );
      member.events.push(given);
      return { status: 204 };
    }
    if (method === 'GET') {
      const { email, status, fields, language = '' } = member;
      if (status === 'archived') return missing;
      return { status: 200, body: { id: hash, email_address: email, status, merge_fields: fields, language } };
    }
    if (method === 'DELETE') {
      if (member.status === 'archived') return { status: 405, body: { title: 'Method Not Allowed' } };
      member.status = 'archived';
      return { status: 204 };
    }
    demand(method === 'PATCH' && isAddress(given.email_address), 'update');
    const next = hashOf(String(given.email_address));
    if (members.has(next)) return { status: 400, body: { title: 'Member Exists', detail: 'is already a list member' } };
    members.delete(hash);
    member.email = String(given.email_address);
    members.set(next, member);
    return { status: 200, body: { id: next } };
  }

  const active = () => [...members.values()].filter(({ status }) => status !== 'archived');
  return {
    preset: 'mailchimp',
    takesPhones: false,
    keepsStays: false,
    onConflict: 'archived',
    variables: (url) => ({ base_url: `${url}/3.0`, list_id: 'L1' }),
    answer(request) {
      const { path } = split(request.path);
      if (path === '/3.0/lists/L1') return upsert(request.body as Body);
      if (path === '/3.0/lists/L1/merge-fields') {
        if (request.method === 'GET') return { status: 200, body: { merge_fields: [...tags].map((tag) => ({ tag })) } };
        const { tag, name, type } = request.body as Body;
        demand(/^[A-Z_]{1,10}$/.test(String(tag)) && name !== undefined, 'merge field');
        demand(['text', 'number', 'date'].includes(String(type)), 'type of a merge field');
        tags.add(String(tag));
        return { status: 200, body: { tag } };
      }
      const member = /^\/3\.0\/lists\/L1\/members\/([0-9a-f]{32})(\/.*)?$/.exec(path);
      demand(member !== null, path);
      return ofMember(request, member[1] ?? '', member[2] ?? '');
    },
    people: () =>
      active().map(({ id, email, status, fields }) => ({
        id,
        email,
        phone: text(fields.PHONE),
        first: text(fields.FNAME),
        last: text(fields.LNAME),
        subscribed: status === 'subscribed' ? true : status === 'unsubscribed' ? false : undefined,
        text: JSON.stringify(fields),
      })),
    stays: () => [],
    moments: () =>
      [...members.values()].flatMap(({ id, events }) =>
        events.map(({ name, properties }) => ({
          id: String((properties as Body).moment_id),
          kind: String(name).replace('innbound_', ''),
          guest: id,
        })),
      ),
    unsubscribe: (email) => {
      const member = members.get(hashOf(email));
      if (member) member.status = 'unsubscribed';
    },
    seed(email) {
      members.set(hashOf(email), { id: newId(), email, status: 'subscribed', fields: {}, events: [] });
    },
  };
}
