import type { ASTNode } from '@marcbachmann/cel-js';
import { guestFields, reservationFields } from './fields.ts';
import { functionNames, macroNames, methodNames, ownNames } from './functions.ts';
import { limits } from './limits.ts';
import { patternOf } from './pattern.ts';

/** A mistake in an expression. `offset` counts characters from the start of the text. */
export interface ExpressionFault {
  readonly message: string;
  readonly offset: number;
  readonly length?: number;
}

export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}

/** True for a call that iterates over a list. */
export function isMacro(node: ASTNode): boolean {
  return node.op === 'rcall' && macroNames.has(node.args[0]);
}

/** Offset of a method's name: after the receiver, closing brackets, spaces, comments and the dot. */
export function methodNameAt(text: string, node: ASTNode & { op: 'rcall' }): number {
  const between = /^(?:[\s)]|\/\/[^\n]*(?:\n|$))*\.(?:\s|\/\/[^\n]*(?:\n|$))*/.exec(text.slice(node.args[1].end));
  const at = node.args[1].end + (between?.[0].length ?? 0);
  const [name] = node.args;
  // The tree may contain our replacement names.
  return text.slice(at, at + name.length).toLowerCase() === name.toLowerCase() ? at : node.start;
}

/** Checks a parsed expression against what rules may do. `text` is the text to compile, with the names of replaced functions substituted. */
export function guard(
  text: string,
  root: ASTNode,
): { readonly mistakes: readonly ExpressionFault[]; readonly text: string } {
  const mistakes: ExpressionFault[] = [];
  // By UTF-16 units, like the offsets.
  const letters = text.split('');
  const rename = (name: string, at: number): void => {
    const own = ownNames.get(name);
    if (own === undefined) return;
    if (!text.startsWith(name, at)) mistakes.push({ message: `Write ${name} plainly.`, offset: at });
    else for (let letter = 0; letter < own.length; letter++) letters[at + letter] = own[letter] ?? '';
  };
  const visit = (node: ASTNode, nesting: number): void => {
    if (node.op === 'call') {
      const [name, args] = node.args;
      const at = text.startsWith('.', node.start) ? node.start + 1 : node.start;
      if (!functionNames.has(name))
        mistakes.push({ message: unknownFunction(name, functionNames), offset: at, length: name.length });
      if (name === 'has') checkHas(args, node, mistakes);
      rename(name, at);
    }
    if (node.op === 'rcall') {
      const [name, receiver, args] = node.args;
      const at = methodNameAt(text, node);
      if (isMacro(node)) {
        if (nesting === limits.macroNesting) {
          const message = `${name} is nested inside ${limits.macroNesting} other functions over lists; at most ${limits.macroNesting} may be nested.`;
          mistakes.push({ message, offset: at, length: name.length });
        }
        visit(receiver, nesting);
        for (const arg of args.slice(1)) visit(arg, nesting + 1);
        return;
      }
      if (!methodNames.has(name))
        mistakes.push({
          message: unknownFunction(name, [...methodNames, ...macroNames]),
          offset: at,
          length: name.length,
        });
      if (name === 'matches') checkPattern(args[0], mistakes);
      rename(name, at);
    }
    if (node.op === '.?' || node.op === '[?]')
      mistakes.push({ message: 'Optional access is not part of rules; use has().', offset: node.start });
    for (const child of childrenOf(node)) visit(child, nesting);
  };
  visit(root, 0);
  return { mistakes, text: letters.join('') };
}

function isFieldName(name: string): boolean {
  return Object.hasOwn(reservationFields, name) || Object.hasOwn(guestFields, name) || name === 'extra';
}

function checkHas(args: readonly ASTNode[], call: ASTNode, mistakes: ExpressionFault[]): void {
  const [target] = args;
  if (args.length === 1 && (target?.op === '.' || (target?.op === 'id' && isFieldName(target.args)))) return;
  const { start, end } = target ?? call;
  mistakes.push({
    message: 'has() takes one field, such as has(channel) or has(guest.email).',
    offset: start,
    length: end - start,
  });
}

/** A pattern from the data is untrusted and would be compiled again for each record. */
function checkPattern(pattern: ASTNode | undefined, mistakes: ExpressionFault[]): void {
  if (pattern === undefined) return;
  const place = { offset: pattern.start, length: pattern.end - pattern.start };
  if (pattern.op !== 'value' || typeof pattern.args !== 'string') {
    mistakes.push({ message: 'The pattern of matches() must be a text in quotes.', ...place });
    return;
  }
  const compiled = patternOf(pattern.args);
  if (typeof compiled === 'string') mistakes.push({ message: `matches(): ${compiled}.`, ...place });
}

function unknownFunction(name: string, known: Iterable<string>): string {
  return `There is no function ${name}. There are: ${[...known].sort().join(', ')}.`;
}
