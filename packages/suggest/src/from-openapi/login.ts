import type { JsonObject } from '../../../../src/terms.ts';
import type { Leaf } from '../leaf.ts';
import { leavesOf } from '../leaves.ts';
import type { Operation, Parameter } from './model.ts';
import { setAt } from './set-at.ts';
import { synthesize } from './synthesize.ts';

/** `auth: { type: login }`: a token from the partner's login call, in the header that the list needs. */
export function loginOf(operation: Operation, header: string, secret: (name: string) => string): JsonObject {
  const answer = operation.sample ?? (operation.response === undefined ? undefined : synthesize(operation.response));
  const places = answer === undefined ? [] : leavesOf([answer]).filter(({ kind }) => kind === 'value');
  const token = places.find(({ own }) => isToken(own) && !own.includes('refresh')) ?? places.find(isOnlyText);
  const lifetime = places.find(
    ({ own, values: [value] }) => own.some((word) => /^expir/.test(word)) && typeof value === 'number',
  );
  const isBearer = header.toLowerCase() === 'authorization';
  const body: JsonObject = {};
  for (const { name } of fieldsOf(operation)) setAt(body, name.split('.'), secret(name.split('.').at(-1) ?? name));
  return {
    type: 'login',
    path: operation.path,
    ...(operation.bodyType?.includes('form-urlencoded') === true && { encoding: 'form' }),
    ...(Object.keys(body).length > 0 && { body }),
    ...(token !== undefined && token.path !== 'token' && { token: token.path }),
    ...(lifetime !== undefined && { expires_in: lifetime.path }),
    ...(!isBearer && { header, value: '{token}' }),
  };
}

/** The required fields; all of them where the description marks none. */
function fieldsOf({ parameters }: Operation): readonly Parameter[] {
  const body = parameters.filter((one) => one.in === 'body');
  const required = body.filter((one) => one.required);
  return required.length > 0 ? required : body;
}

const isToken = (words: readonly string[]) => words.some((word) => word === 'token' || word === 'jwt');
const isOnlyText = ({ values: [value], own }: Leaf, _index: number, all: readonly Leaf[]) =>
  typeof value === 'string' && (all.length === 1 || own.some((word) => ['session', 'key', 'ticket'].includes(word)));
