import type { JoinForm } from './config.ts';
import type { Env } from './env.ts';
import type { Each, Scope } from './scope.ts';
import { asList, compileKey, compileTable } from './table.ts';

type Missing = (item: Scope, join: JoinForm) => readonly Scope[];

/**
 * Replaces each item by the table rows that have its key, one join after the other. `missing` decides what happens to an item without
 * a row. If the record itself is joined, no row means no items.
 */
export function compileJoins(
  from: Each,
  joins: JoinForm | JoinForm[] | undefined,
  at: string,
  env: Env,
  missing: Missing,
): Each {
  if (joins === undefined) return from;
  if (!Array.isArray(joins)) return compileJoin(from, joins, at, env, missing);
  return joins.reduce((each, join, index) => compileJoin(each, join, `${at}[${index}]`, env, missing), from);
}

function compileJoin(from: Each, join: JoinForm, at: string, env: Env, missing: Missing): Each {
  const find = compileTable(join.in, asList(join.key), at, env);
  const key = compileKey(asList(join.by), `${at}.by`, env);
  return (scope) =>
    from(scope).flatMap((item): readonly Scope[] => {
      const text = key(item);
      const rows = text === undefined ? [] : find(item, text);
      return rows.length > 0 || item === scope ? rows : missing(item, join);
    });
}
