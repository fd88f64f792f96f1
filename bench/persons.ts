import { assembleProfiles } from '../src/core/store/persons/profiles.ts';
import { openStore, reservation, takeIn } from '../test/deliver/support.ts';
import { bookingsOf, groupsOf } from '../test/persons/bookings.ts';
import { agencyKeys, claimCost, ownKeys } from '../test/persons/claim-cost.ts';
import { type Household, type Mention, Population } from '../test/persons/population.ts';
import { testBrand } from '../test/support/brand.ts';

/**
 * `persons [COUNT] [SEED]` invents people whose identity is known, stores their bookings and compares the profiles with the truth.
 * 20 % of the people share an address or a phone, 5 % of the mentions have a typing mistake. `persons claims` measures what a claim of
 * 100, 1,000 and 10,000 guests costs for each of them.
 */
export async function run([count = '10000', seed = '1']: readonly string[]): Promise<void> {
  if (count === 'claims') return claims();
  const population = new Population(Number(seed));
  const bookings = bookingsOf(population, householdsFor(population, Number(count)));
  const mentions = new Map<string, Mention>();
  const records = bookings.map(({ id, mentions: named }) => ({
    id,
    guests: named.map((mention, place) => {
      const mark = `${id}.${place}`;
      mentions.set(mark, mention);
      return { ...mention.guest, extra: { ...mention.guest.extra, [mark]: true } };
    }),
  }));
  const { pool, close } = await openStore();
  try {
    const target = testBrand('lisbon');
    for (let at = 0; at < records.length; at += 100) {
      const page = records.slice(at, at + 100);
      await takeIn(
        pool,
        page.map(({ id, guests }) => reservation(id, { guests })),
        [],
      );
      await assembleProfiles(
        pool,
        target,
        page.map(({ id, guests }) => ({ id, version: 1, guests })),
      );
    }
    const { rows } = await pool.query<{ marks: string[] }>(
      `select array(select jsonb_object_keys(data::jsonb -> 'extra')) as marks from records where type = 'guest' and version > 0`,
    );
    report(
      rows.map(({ marks }) => marks.flatMap((mark) => mentions.get(mark) ?? [])),
      [...mentions.values()],
    );
  } finally {
    await close();
  }
}

async function claims(): Promise<void> {
  const { pool, close } = await openStore();
  try {
    await claimCost(pool, 'warm', 100, ownKeys);
    for (const [kind, keysOf] of Object.entries({ own: ownKeys, agency: agencyKeys })) {
      for (const count of [100, 1_000, 10_000]) {
        const micros = await claimCost(pool, `${kind}${count}-`, count, keysOf);
        console.log(`${count} guests, ${kind} addresses: ${Math.round(micros)} µs of processor time each`);
      }
    }
  } finally {
    await close();
  }
}

/** One in five is a relative or a companion. */
function householdsFor({ dice }: Population, count: number): Household[] {
  const sizes = { single: 1, couple: 2, family: 3, twins: 2, namesakes: 2, siblings: 2, agency: 4, group: 4 } as const;
  const related = [
    'couple',
    'couple',
    'couple',
    'family',
    'family',
    'twins',
    'namesakes',
    'siblings',
    'agency',
    'group',
  ] as const;
  const kinds: Household[] = [];
  for (let left = count * 0.2; left > 0; ) {
    const kind = dice.pick(related);
    kinds.push(kind);
    left -= sizes[kind];
  }
  return [...kinds, ...Array.from({ length: count * 0.8 }, () => 'single' as const)].sort(() => dice.next() - 0.5);
}

function report(profiles: readonly (readonly Mention[])[], all: readonly Mention[]): void {
  const persons = Map.groupBy(all, ({ person }) => person);
  const merged = profiles.filter((mentions) => new Set(mentions.map(({ person }) => person)).size > 1);
  const profilesOf = new Map<string, number>();
  for (const mentions of profiles) {
    for (const label of new Set(mentions.map(({ person }) => person.label))) {
      profilesOf.set(label, (profilesOf.get(label) ?? 0) + 1);
    }
  }
  let [several, separated, unlinked] = [0, 0, 0];
  for (const [person, mentions] of persons) {
    const keyed = mentions.filter(({ guest }) => guest.guest_id || guest.phone || (guest.email && !guest.email_proxy));
    if (keyed.length < 2) continue;
    several += 1;
    const [expected, found] = [groupsOf(keyed), profilesOf.get(person.label) ?? 0];
    if (found > expected) separated += 1;
    if (expected > 1) unlinked += 1;
  }
  const percent = (part: number) => `${((100 * part) / several).toFixed(2)} %`;
  console.log(`${persons.size} persons, ${all.length} mentions, ${profiles.length} profiles`);
  console.log(`wrongly merged: ${merged.length}`);
  console.log(
    `wrongly separated: ${separated} of ${several} persons with two or more mentions (${percent(separated)})`,
  );
  console.log(`no identifier links all mentions: ${unlinked} persons (${percent(unlinked)})`);
}
