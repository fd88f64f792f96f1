import type { Received, Reply } from '../http-server.ts';
import {
  type Account,
  type Body,
  changed,
  demand,
  isAddress,
  isDate,
  isInstant,
  isPhone,
  newId,
  only,
  text,
} from './account.ts';

interface User {
  readonly id: string;
  email?: string;
  phone?: string;
  subscription: string;
  attributes: Body;
  custom: Body;
}

const standard = ['first_name', 'last_name', 'dob', 'language', 'country'];
const flags = ['_merge_objects', '_update_existing_only'];

/**
 * Users by e-mail or phone; unknown custom attributes and events are created when they are first sent. A changed address resets the
 * subscription to "subscribed".
 */
export function brazeAccount(): Account {
  const users = new Map<string, User>();
  const events: { id: string; kind: string; guest: string }[] = [];
  const by = ({ braze_id: id, email, phone }: Body): User | undefined => {
    if (id !== undefined) return users.get(String(id));
    const all = [...users.values()];
    return email === undefined ? all.find((one) => one.phone === phone) : all.find((one) => one.email === email);
  };

  function setAttributes(given: Body): string | undefined {
    const {
      braze_id: id,
      email,
      phone,
      email_subscribe: subscription,
      _update_existing_only: existing,
      ...rest
    } = given;
    demand(id !== undefined || email !== undefined || phone !== undefined, 'identifier');
    demand(email == null || isAddress(email), 'email');
    demand(phone == null || isPhone(phone), 'phone');
    demand(rest.dob == null || isDate(rest.dob), 'dob');
    const states = [undefined, 'opted_in', 'subscribed', 'unsubscribed'];
    demand(states.includes(subscription as string), 'email_subscribe');
    const known = by(given);
    if (known === undefined && existing === true) return undefined;
    const user: User = known ?? { id: newId(), subscription: 'subscribed', attributes: {}, custom: {} };
    users.set(user.id, user);
    if (email !== undefined && user.email !== undefined && user.email !== email) user.subscription = 'subscribed';
    if (email === null) delete user.email;
    else if (email !== undefined) user.email = String(email);
    if (phone === null) delete user.phone;
    else if (phone !== undefined) user.phone = String(phone);
    if (subscription !== undefined) user.subscription = String(subscription);
    for (const [name, value] of Object.entries(rest)) {
      if (flags.includes(name)) continue;
      if (standard.includes(name)) user.attributes[name] = value;
      else if (typeof value === 'object' && value !== null) {
        demand(
          Object.keys(value).every((key) => !/[\s.$]/.test(key)),
          `key of ${name}`,
        );
        demand(JSON.stringify(value).length < 50_000, `size of ${name}`);
        // Without the flag an object replaces the one that is there.
        const kept = rest._merge_objects === true ? (user.custom[name] as Body) : {};
        user.custom[name] = changed(kept, value as Body);
      } else user.custom[name] = value;
    }
    return user.id;
  }

  function track({ attributes = [], events: happened = [], ...more }: Body): Reply {
    only(more, [], 'track');
    const [people, moments] = [attributes as Body[], happened as Body[]];
    demand(people.length + moments.length > 0 && people.length + moments.length <= 75, 'at most 75 objects');
    for (const one of people) setAttributes(one);
    for (const { email, phone, name, time, properties, ...rest } of moments) {
      only(rest, flags, 'event');
      demand(isInstant(time) && /^\w{1,255}$/.test(String(name)), 'event');
      const who = { ...(email !== undefined && { email }), ...(phone !== undefined && { phone }) };
      const guest = by(who)?.id ?? setAttributes(who) ?? '';
      const { moment_id: id } = properties as Body;
      events.push({ id: String(id), kind: String(name).replace('innbound_', ''), guest });
    }
    return { status: 201, body: { attributes_processed: people.length, message: 'success' } };
  }

  function exported({ email_address: email, phone, fields_to_export: fields, ...more }: Body): Reply {
    only(more, [], 'export');
    demand(Array.isArray(fields) && (email !== undefined) !== (phone !== undefined), 'export');
    const user = by(email === undefined ? { phone: phone ?? '' } : { email });
    if (user === undefined) return { status: 201, body: { users: [], invalid_user_ids: [], message: 'success' } };
    const all: Body = { braze_id: user.id, email_subscribe: user.subscription, custom_attributes: user.custom };
    const one = Object.fromEntries(Object.entries(all).filter(([name]) => (fields as string[]).includes(name)));
    return { status: 201, body: { users: [one], message: 'success' } };
  }

  function merge({ merge_updates: updates }: Body): Reply {
    for (const { identifier_to_merge: from, identifier_to_keep: to } of updates as { [key: string]: Body }[]) {
      demand(Array.isArray(from?.prioritization) && Array.isArray(to?.prioritization), 'prioritization');
      const [gone, keep] = [by(from), by(to)];
      if (!gone || !keep) continue;
      keep.attributes = { ...gone.attributes, ...keep.attributes };
      keep.custom = { ...gone.custom, ...keep.custom };
      for (const event of events) if (event.guest === gone.id) event.guest = keep.id;
      users.delete(gone.id);
    }
    return { status: 202, body: { message: 'success' } };
  }

  function remove(given: Body): Reply {
    demand(Object.keys(given).length === 1, 'one kind of identifier');
    const list = (given.email_addresses ?? given.phone_numbers) as Body[];
    for (const one of list) {
      demand(Array.isArray(one.prioritization), 'prioritization');
      const user = by(one);
      if (user) users.delete(user.id);
    }
    return { status: 201, body: { deleted: list.length, message: 'success' } };
  }

  return {
    preset: 'braze',
    takesPhones: true,
    keepsStays: true,
    onConflict: 'merged',
    variables: (url) => ({ endpoint: url }),
    answer({ method, path, body }: Received) {
      demand(method === 'POST', method);
      if (path === '/users/track') return track(body as Body);
      if (path === '/users/export/ids') return exported(body as Body);
      if (path === '/users/merge') return merge(body as Body);
      demand(path === '/users/delete', path);
      return remove(body as Body);
    },
    people: () =>
      [...users.values()].map(({ id, email, phone, subscription, attributes, custom }) => ({
        id,
        email,
        phone,
        first: text(attributes.first_name),
        last: text(attributes.last_name),
        guestId: text(custom.innbound_guest_id),
        subscribed: subscription === 'opted_in' ? true : subscription === 'unsubscribed' ? false : undefined,
        text: JSON.stringify({ ...attributes, ...custom, innbound_stays: null, innbound_moments: null }),
      })),
    stays: () =>
      [...users.values()].flatMap(({ id, custom }) =>
        (Object.values((custom.innbound_stays ?? {}) as Body) as Body[]).map((one) => ({
          key: String(one.key),
          status: one.status,
          checkIn: (one.check_in as Body | undefined)?.$time,
          amount: text(one.total_amount),
          nights: one.nights,
          channel: one.channel,
          brand: one.brand,
          guest: id,
        })),
      ),
    moments: () => events,
    unsubscribe: (email) => {
      for (const user of users.values()) if (user.email === email) user.subscription = 'unsubscribed';
    },
    sharesStays: true,
    seed(email) {
      const id = newId();
      users.set(id, { id, email, subscription: 'subscribed', attributes: {}, custom: {} });
    },
  };
}
