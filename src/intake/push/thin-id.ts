import type { Brand } from '../../brand/brand.ts';
import type { Connector } from '../../documents/connector.ts';
import type { EntityType, Json } from '../../terms.ts';
import { textAt } from './place.ts';

type ThinId = NonNullable<NonNullable<Connector['push']>['thin']>['id'];

/** The id that a thin event names, whose record is then fetched from the partner; undefined if the event is not thin. */
export function thinIdOf({ connector }: Pick<Brand, 'connector'>, type: EntityType, data: Json): string | undefined {
  const thin = connector.body.push?.thin;
  if (thin === undefined) return undefined;
  if (type === 'guest') return thin.guest && textAt(data, [thin.guest].flat());
  return thinId(thin.id, data);
}

/** The id that an event names; undefined if it names none. */
export function thinId(from: ThinId, data: Json): string | undefined {
  if (typeof from === 'string' || Array.isArray(from)) return textAt(data, [from].flat());
  const parts = from.join.map((path) => textAt(data, [path]));
  return parts.includes(undefined) ? undefined : parts.join(from.with);
}
