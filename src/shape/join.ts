import type { JoinForm } from './config.ts';
import type { Env } from './env.ts';
import type { Each, Scope } from './scope.ts';
import { asList, compileKeys, compileTable } from './table.ts';

/**
 * Replaces each item by the table rows that have its key, one join after the other. An item without a row gives nothing: its own fields
 * belong to another table. `missing` is called for it, unless the record itself is joined, which may have no rows.
 */
export function compileJoins(
  from: Each,
  joins: JoinForm | JoinForm[] | undefined,
  at: string,
  env: Env,
  missing?: (item: Scope, join: JoinForm) => void,
): Each {
  if (joins === undefined) return from;
  const places = Array.isArray(joins)
    ? joins.map((join, index) => [join, `${at}[${index}]`] as const)
    : [[joins, at] as const];
  return places.reduce((each, [join, place]) => {
    const find = compileTable(join.in, asList(join.key), place, env);
    const keys = compileKeys(asList(join.by), `${place}.by`, env);
    return (scope: Scope) =>
      each(scope).flatMap((item) => {
        const rows = keys(item).flatMap((key) => find(item, key));
        if (rows.length === 0 && item !== scope) missing?.(item, join);
        return rows;
      });
  }, from);
}
