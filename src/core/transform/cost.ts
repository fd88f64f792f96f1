import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, isMacro } from './guards.ts';
import { limits } from './limits.ts';
import { patternOf } from './pattern.ts';

/**
 * An upper bound of an expression's steps, computed from its syntax tree. The divisors were measured so that a step of any operation,
 * over the largest texts and 100 items, takes 4 to 110 ns when warm and up to five times that on a first run (two arm64 cores).
 */

/** The largest size of a value: characters of a text, items of a list and their size. */
interface Size {
  readonly chars: number;
  readonly items: number;
  readonly of: Size | undefined;
  /** For a guest or a room: the size of its text fields, which the views limit further than other texts. */
  readonly field?: Size | undefined;
}

const small: Size = { chars: 32, items: 0, of: undefined };
const text = (chars: number): Size => ({ chars, items: 0, of: undefined });
const scalar = text(limits.text);
/** A value in `extra`: any JSON, recursively. */
const anything: Size & { of: Size | undefined } = { chars: limits.text, items: limits.extraEntries, of: undefined };
anything.of = anything;
const person: Size = { chars: 0, items: 0, of: undefined, field: text(limits.itemText) };

interface Estimate {
  readonly steps: number;
  readonly size: Size;
}

/** What an expression costs at most: all its steps, and the part of it that takes the most of them. */
export interface Cost {
  /** Infinite if the expression could build a text over the limit. */
  readonly steps: number;
  readonly most: { readonly node: ASTNode; readonly steps: number };
}

/** The cost over a record whose lists have at most `items` items. */
export function costOf(root: ASTNode, items: number): Cost {
  const ofList = (of: Size): Size => ({ chars: 0, items, of });
  const sizes = new Map<string, Size>([
    ['guests', ofList(person)],
    ['rooms', ofList(person)],
    ['charges', ofList(scalar)],
    ['guest', person],
    ['room', person],
    ['extra', anything],
  ]);
  let most: Cost['most'] = { node: root, steps: 0 };
  const spend = (node: ASTNode, steps: number): void => {
    if (steps > most.steps) most = { node, steps };
  };
  const { steps } = estimate(root, { sizes, lists: sizes, times: 1, spend });
  return { steps, most };
}

interface Context {
  /** The size of each variable in scope. */
  readonly sizes: ReadonlyMap<string, Size>;
  /** The lists of a reservation by name. */
  readonly lists: ReadonlyMap<string, Size>;
  /** How often the expression is run: the product of the lists around it. */
  readonly times: number;
  readonly spend: (node: ASTNode, steps: number) => void;
}

function estimate(node: ASTNode, context: Context): Estimate {
  const { sizes, lists, times, spend } = context;
  const of = (child: ASTNode): Estimate => estimate(child, context);
  if (node.op === 'rcall' && isMacro(node)) return overList(node, context);
  const parts = childrenOf(node).map(of);
  const steps = parts.reduce((sum, part) => sum + part.steps, 1);
  const [first = { steps: 0, size: small }, second = { steps: 0, size: small }] = parts;
  const done = (size: Size, further: number): Estimate => {
    const own = size.chars > limits.builtText ? Number.POSITIVE_INFINITY : 1 + further;
    spend(node, own * times);
    return { steps: steps - 1 + own, size };
  };
  switch (node.op) {
    case 'value':
      return done(typeof node.args === 'string' ? text(node.args.length) : small, 0);
    case 'id':
      return done(sizes.get(node.args) ?? scalar, 0);
    case '.':
      if (node.args[1] === 'extra') return done(anything, 0);
      return done(first.size.field ?? first.size.of ?? listNamed(node.args[1], lists) ?? scalar, 0);
    case '[]':
      return done(first.size.of ?? scalar, 0);
    case 'list':
    case 'map':
      return done(
        { chars: 0, items: parts.length, of: parts.map((part) => part.size).reduce(larger, small) },
        parts.length,
      );
    case '?:':
      return done(larger(second.size, parts[2]?.size ?? small), 0);
    case '+': {
      const both: Size = {
        chars: first.size.chars + second.size.chars,
        items: first.size.items + second.size.items,
        of: first.size.of && second.size.of ? larger(first.size.of, second.size.of) : (first.size.of ?? second.size.of),
      };
      return done(both, both.chars / 500 + both.items / 10);
    }
    case '==':
    case '!=':
      return done(small, Math.min(weight(first.size), weight(second.size)));
    case 'in':
      return done(small, second.size.items * (1 + weight(first.size)));
    case 'call':
    case 'rcall':
      return called(node, parts, done);
    default:
      return done(small, Math.min(first.size.chars, second.size.chars) / 500);
  }
}

function called(
  node: ASTNode & { op: 'call' | 'rcall' },
  parts: readonly Estimate[],
  done: (size: Size, further: number) => Estimate,
): Estimate {
  const [subject = small, argument = small] = parts.map((part) => part.size);
  switch (node.args[0]) {
    case 'matches': {
      const pattern = node.op === 'rcall' ? node.args[2][0] : undefined;
      const compiled = pattern?.op === 'value' && typeof pattern.args === 'string' ? patternOf(pattern.args) : '';
      const program = typeof compiled === 'string' ? limits.patternProgram : compiled.programSize();
      return done(small, (subject.chars * program) / 50);
    }
    case 'contains':
    case 'indexOf':
    case 'lastIndexOf':
      return done(small, subject.chars / 5 + (subject.chars * argument.chars) / 2_000);
    case 'split':
      return done({ chars: 0, items: limits.parts, of: text(Math.min(subject.chars, limits.text)) }, limits.parts / 2);
    case 'join':
      return done(text(limits.text), (subject.items * (1 + (subject.of?.chars ?? 0) + argument.chars)) / 200);
    case 'replace':
      return done(text(limits.text), subject.chars / 2);
    // Some letters become three characters when their case changes.
    case 'lowerAscii':
    case 'upperAscii':
      return done(text(subject.chars * 3), subject.chars / 50);
    case 'trim':
    case 'substring':
    case 'string':
      return done(text(Math.max(subject.chars, 32)), subject.chars / 500);
    default:
      return done(text(64), subject.chars / 10);
  }
}

function listNamed(name: string, lists: ReadonlyMap<string, Size>): Size | undefined {
  const size = lists.get(name);
  return size !== undefined && size !== anything && size.items > 0 ? size : undefined;
}

function overList(node: ASTNode & { op: 'rcall' }, context: Context): Estimate {
  const [name, receiver, args] = node.args;
  const [variable, ...bodies] = args;
  const list = estimate(receiver, context);
  const sizes = new Map(context.sizes);
  if (variable?.op === 'id') sizes.set(variable.args, list.size.of ?? scalar);
  const inside = { ...context, sizes, times: context.times * Math.max(1, list.size.items) };
  const parts = bodies.map((body) => estimate(body, inside));
  const each = parts.reduce((sum, part) => sum + part.steps, 2);
  const made = name === 'map' ? parts.at(-1)?.size : list.size.of;
  const size: Size = name === 'map' || name === 'filter' ? { chars: 0, items: list.size.items, of: made } : small;
  return { steps: list.steps + 1 + list.size.items * each, size };
}

function larger(one: Size, other: Size): Size {
  if (one === anything || other === anything) return anything;
  if (one === other) return one;
  return {
    chars: Math.max(one.chars, other.chars),
    items: Math.max(one.items, other.items),
    of: one.of && other.of ? larger(one.of, other.of) : (one.of ?? other.of),
  };
}

/** The cost of comparing two values of this size. */
function weight(size: Size): number {
  if (size === anything) return limits.extraValues;
  return size.chars / 500 + size.items * (1 + (size.of ? weight(size.of) : 0));
}
