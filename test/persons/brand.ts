import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { deliverPorts } from '../../src/composition/deliver.ts';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import type { IntegrationName, Json } from '../../src/terms.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';

/** The days of every booking. */
export const stay = { check_in: '2099-12-01', check_out: '2099-12-04' };

const asJson = (guests: readonly Guest[]) => guests as unknown as Json[];

interface Line {
  readonly type: string;
  readonly version: number;
  readonly data: Guest & { readonly id: string; readonly guests?: readonly Guest[] };
}

/** A node with a brand that is pulled and pushed, and what its destinations have received. */
export class Brand {
  readonly node: ApiNode;

  private constructor(node: ApiNode) {
    this.node = node;
  }

  static async start(): Promise<Brand> {
    const brand = (name: string) => `integration: ${name}
connector: hotel
brand_id: ${name.toUpperCase()}
timezone: Europe/Lisbon
country: PT
pull:
  base_url: http://127.0.0.1:1/${name}
  auth: { type: bearer, token: letmein }
  syncs: { pre_stay: { every: 15m, range: [+1d, +7d] } }
push: { enabled: true }
deliver: [lake, news]
`;
    return new Brand(
      await apiNode('', {
        'destinations/news.yaml': 'destination: news\ntype: files\npath: news\nconsent: marketing\n',
        'integrations/grand.yaml': brand('grand'),
        'integrations/other.yaml': brand('other'),
      }),
    );
  }

  async pull(id: string, guests: readonly Guest[], more: { [field: string]: Json } = {}): Promise<void> {
    await this.node.take('grand', reservation(id, { ...stay, ...more, guests: asJson(guests) }));
    await this.deliver();
  }

  async push(id: string, guests: readonly Guest[], at?: number): Promise<void> {
    const data = { reservation_id: id, ...stay, status: 'confirmed', guests: asJson(guests) };
    await this.node.send('grand', 'reservation.updated', data, at);
    await this.deliver();
  }

  async update(data: { [field: string]: Json }, at?: number): Promise<void> {
    await this.node.send('grand', 'guest.updated', data, at);
    await this.deliver();
  }

  /** Twice: the first round assembles the profiles, which the second one delivers. */
  async deliver(): Promise<void> {
    for (const _ of [1, 2]) {
      await drainOnce(await deliverPorts(this.node.runtime), { integration: 'grand' as IntegrationName });
    }
  }

  async lines(where: 'out' | 'news'): Promise<Line[]> {
    const files = await Array.fromAsync(glob(path.join(this.node.runtime.workspaceDir, where, '*', '*.ndjson')));
    const texts = await Promise.all(files.sort().map((file) => readFile(file, 'utf8')));
    return texts.flatMap((text) => text.trimEnd().split('\n')).map((line) => JSON.parse(line) as Line);
  }

  async newest(id: string): Promise<readonly Guest[] | undefined> {
    const versions = (await this.lines('out')).filter(({ data }) => data.id === id);
    return versions.toSorted((a, b) => b.version - a.version)[0]?.data.guests;
  }

  /** Everything that the marketing destination got about an address, in order: subscribed or not. */
  async subscriptions(email: string): Promise<(boolean | undefined)[]> {
    return (await this.lines('news'))
      .flatMap(({ data }) => data.guests ?? [data])
      .filter((guest) => guest.email === email)
      .map(({ marketing_consent }) => marketing_consent);
  }

  /** The newest version of every profile that once had this value. */
  async profilesWith(field: 'last_name' | 'email', value: string): Promise<Guest[]> {
    const profiles = new Map<string, Line>();
    const had = new Set<string>();
    for (const line of (await this.lines('out')).filter(({ type }) => type === 'guest')) {
      if (line.data[field] === value) had.add(line.data.id);
      if ((profiles.get(line.data.id)?.version ?? 0) < line.version) profiles.set(line.data.id, line);
    }
    return [...profiles.values()]
      .filter(({ data: { id } }) => had.has(id))
      .map(({ data: { id: _, ...guest } }) => guest);
  }
}
