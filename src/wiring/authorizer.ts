import type { Authorizer } from '../deliver/destination.ts';
import type { Ground } from '../ground.ts';
import type { Json } from '../terms.ts';

export function authorizer(_ground: Ground, _owner: string, _auth: Json): Authorizer {
  throw new Error('not wired');
}
