import type { ASTNode } from '@marcbachmann/cel-js';
import type { z } from 'zod';
import type { ruleSchema } from '../documents/rule.ts';
import { compileExpression, type Expression } from './expression.ts';
import { type ListName, listNames, lists } from './fields.ts';
import { childrenOf, type ExpressionFault, isMacro } from './guards.ts';
import { acceptedTypes, type FieldTarget, isRequired, targetOf } from './target.ts';

/**
 * A business rule in the `transforms` of an integration. If everything it changes is in one list, `when` may use `guest`,
 * `room` or `charge` and is tested for each item. All values of `set` are computed before any is written.
 */
export type Rule = z.infer<typeof ruleSchema>;

export interface RuleProblem extends ExpressionFault {
  /** Such as transforms[0].when. */
  readonly path: string;
}

export interface Assignment {
  readonly path: string;
  readonly target: FieldTarget;
  readonly expression: Expression;
  /** Whether the expression reads the field it sets: returning the zero of an absent field must not set it. */
  readonly readsItself: boolean;
}

export interface CompiledRule {
  readonly path: string;
  readonly reason: string;
  readonly when: Expression | undefined;
  /** The list for whose items `when` is tested one by one. */
  readonly each: ListName | undefined;
  readonly sets: readonly Assignment[];
  readonly removes: readonly FieldTarget[];
  /** Lists whose items are removed. */
  readonly removesItems: readonly ListName[];
  /** Lists in which the rule changes something. */
  readonly changesLists: readonly ListName[];
  readonly dropsRecord: boolean;
}

export function compileRule(rule: Rule, index: number, problems: RuleProblem[]): CompiledRule {
  const path = `transforms[${index}]`;
  const sets = Object.entries(rule.set ?? {}).flatMap(([at, text]) => compileSet(at, text, path, problems));
  const { removes, removesItems } = compileRemovals(rule.drop, path, problems);
  if (rule.set === undefined && rule.drop === undefined)
    problems.push({ path, message: 'A rule needs set or drop.', offset: 0 });
  if (rule.drop === true && rule.set !== undefined)
    problems.push({ path, message: 'A rule that drops the record cannot set fields.', offset: 0 });

  const places = new Set<string>([...sets, ...removes.map((target) => ({ target }))].map(({ target }) => target.place));
  for (const list of removesItems) places.add(list);
  const [only] = places;
  const list = places.size === 1 ? listNames.find((name) => name === only) : undefined;
  const when = rule.when === undefined ? undefined : compileWhen(rule.when, list, path, problems);
  const each =
    list !== undefined && when !== undefined && variablesOf(when.root).has(lists[list].variable) ? list : undefined;
  if (removesItems.length > 0 && rule.when !== undefined && when !== undefined && each === undefined) {
    const variable = removesItems.map((name) => lists[name].variable).join(', ');
    problems.push({
      path: `${path}.when`,
      message: `To drop items of a list, the condition must use ${variable}, so that it is tested for each item.`,
      offset: 0,
    });
  }
  return {
    path,
    reason: rule.note ?? `Rule ${path} of the integration.`,
    when,
    each,
    sets,
    removes,
    removesItems,
    changesLists: listNames.filter((name) => places.has(name)),
    dropsRecord: rule.drop === true,
  };
}

function compileWhen(
  text: string,
  list: ListName | undefined,
  path: string,
  problems: RuleProblem[],
): Expression | undefined {
  const compiled = compileExpression(text, list ?? 'reservation');
  if (compiled.kind === 'invalid') {
    problems.push(...compiled.mistakes.map((mistake) => ({ path: `${path}.when`, ...mistake })));
    return undefined;
  }
  if (compiled.expression.type === 'bool') return compiled.expression;
  problems.push({ path: `${path}.when`, ...notBoolean(compiled.expression.type, text) });
  return undefined;
}

export function notBoolean(type: string, text: string): ExpressionFault {
  const message =
    type === 'dyn'
      ? 'The condition must be true or false; compare the value, as in extra.vip == true.'
      : `The condition must be true or false, not ${type}.`;
  return { message, offset: 0, length: text.length };
}

function compileSet(at: string, text: string, rule: string, problems: RuleProblem[]): Assignment[] {
  // As documents write paths: keys other than plain words are quoted.
  const path = /^\w+$/.test(at) ? `${rule}.set.${at}` : `${rule}.set[${JSON.stringify(at)}]`;
  const target = targetOf(at);
  if (typeof target === 'string') {
    problems.push({ path, message: target, offset: 0 });
    return [];
  }
  const list = listNames.find((name) => name === target.place);
  const compiled = compileExpression(text, list ?? 'reservation');
  if (compiled.kind === 'invalid') {
    problems.push(...compiled.mistakes.map((mistake) => ({ path, ...mistake })));
    return [];
  }
  const { expression } = compiled;
  const types = acceptedTypes(target);
  if (types !== undefined && expression.type !== 'dyn' && !types.includes(expression.type)) {
    problems.push({
      path,
      message: `${at} takes ${types.join(' or ')}, not ${expression.type}.`,
      offset: 0,
      length: text.length,
    });
    return [];
  }
  return [{ path, target, expression, readsItself: readsField(expression.root, target.field) }];
}

function compileRemovals(
  drop: Rule['drop'],
  rule: string,
  problems: RuleProblem[],
): { removes: FieldTarget[]; removesItems: ListName[] } {
  const removes: FieldTarget[] = [];
  const removesItems: ListName[] = [];
  for (const [index, at] of (drop === true ? [] : (drop ?? [])).entries()) {
    const list = listNames.find((name) => at === `${name}[]`);
    if (list !== undefined) {
      removesItems.push(list);
      continue;
    }
    const target = targetOf(at);
    const path = `${rule}.drop[${index}]`;
    if (typeof target === 'string') problems.push({ path, message: target, offset: 0 });
    else if (isRequired(target))
      problems.push({ path, message: `${at} cannot be dropped: every reservation needs it.`, offset: 0 });
    else removes.push(target);
  }
  return { removes, removesItems };
}

/** The variables that the expression reads, without those that a macro declares. */
export function variablesOf(node: ASTNode): ReadonlySet<string> {
  if (node.op === 'id') return new Set([node.args]);
  if (node.op === 'rcall' && isMacro(node)) {
    const [, receiver, [variable, ...bodies]] = node.args;
    const read = variablesIn(bodies);
    if (variable?.op === 'id') read.delete(variable.args);
    return read.union(variablesOf(receiver));
  }
  return variablesIn(childrenOf(node));
}

function variablesIn(nodes: readonly ASTNode[]): Set<string> {
  return new Set(nodes.flatMap((node) => [...variablesOf(node)]));
}

function readsField(node: ASTNode, field: string): boolean {
  if (node.op === 'id' ? node.args === field : node.op === '.' && node.args[1] === field) return true;
  return childrenOf(node).some((child) => readsField(child, field));
}
