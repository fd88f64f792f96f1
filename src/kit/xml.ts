import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { SaxesParser } from 'saxes';
import { isInherited } from '../core/json-path/path.ts';
import type { Json, JsonObject } from '../terms.ts';

/**
 * XML as JSON and back. Elements become keys, attributes become `@name`, text beside either becomes `#text`; a repeated element is a list, an
 * empty one null. Prefixes of namespaces are left out when reading, because a partner may change them.
 */

const deepest = 64;
const mostAttributes = 1_000;

interface Element {
  readonly name: string;
  readonly content: Record<string, Json>;
  text: string;
}

/**
 * Reads a document. Throws at the first fault, with its place and without its content, which may be guest data. Document types are
 * refused, and with them every entity that a document could define; the reader knows the five of XML only.
 */
export function readXml(bytes: Uint8Array): JsonObject {
  const { write, end } = reader();
  write(textOf(bytes));
  return end();
}

/** At about 5 MB/s: a large document is read in parts, so that other work goes on between them. */
export async function readLongXml(bytes: Uint8Array): Promise<JsonObject> {
  const { write, end } = reader();
  const text = textOf(bytes);
  for (let at = 0; at < text.length; at += partLength) {
    if (at > 0) await setImmediate();
    write(text.slice(at, at + partLength));
  }
  return end();
}

const partLength = 1 << 18;

function textOf(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new SyntaxError('it is not UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function reader() {
  const parser = new SaxesParser();
  const fail = (why: string): never => {
    throw new SyntaxError(`line ${parser.line}, column ${parser.column}: ${why}`);
  };
  const root: Element = { name: '', content: {}, text: '' };
  const open = [root];
  const inner = () => open.at(-1) ?? root;
  const add = (text: string) => {
    inner().text += text;
  };
  // The parser's own words can quote a name; the place is enough to find the fault.
  parser.on('error', () => fail('the document is not well-formed'));
  parser.on('doctype', () => fail('document types are refused'));
  parser.on('xmldecl', ({ encoding = 'UTF-8' }) => {
    if (!/^(?:utf-?8|us-ascii)$/i.test(encoding)) fail('the encoding must be UTF-8');
  });
  parser.on('text', add);
  parser.on('cdata', add);
  let attributesSeen = 0;
  parser.on('attribute', () => ++attributesSeen > mostAttributes && fail('an element has too many attributes'));
  parser.on('opentag', ({ name, attributes }) => {
    attributesSeen = 0;
    if (open.length > deepest) fail(`it is nested deeper than ${deepest} levels`);
    const content: Record<string, Json> = {};
    for (const [key, value] of Object.entries(attributes))
      if (!/^xmlns(?::|$)/.test(key)) content[`@${localName(key)}`] = value;
    open.push({ name: localName(name), content, text: '' });
  });
  parser.on('closetag', () => {
    const { name, content, text } = open.pop() ?? root;
    if (isInherited(name)) fail('the name of an element is not allowed');
    const around = inner().content;
    const value = contentOf(content, text.trim());
    const before = around[name];
    if (before === undefined) around[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else around[name] = [before, value];
  });
  return {
    write: (text: string) => void parser.write(text),
    end: (): JsonObject => {
      parser.close();
      return root.content;
    },
  };
}

function contentOf(content: Record<string, Json>, text: string): Json {
  for (const _ in content) return text === '' ? content : Object.assign(content, { '#text': text });
  return text === '' ? null : text;
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** A document of the same form, with the prefixes and namespaces that its keys have. */
export const writeXml = (body: Readonly<Record<string, Json>>): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${content(body)}`;

function content(value: Json | Readonly<Record<string, Json>>): string {
  if (typeof value !== 'object' || value === null) return escapedXml(value ?? '');
  return Object.entries(value)
    .filter(([name]) => !name.startsWith('@'))
    .map(([name, inner]) =>
      name === '#text'
        ? content(inner)
        : [inner]
            .flat()
            .map((one) => element(name, one))
            .join(''),
    )
    .join('');
}

function element(name: string, value: Json): string {
  const own = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const attributes = own.filter(([key]) => key.startsWith('@'));
  const start = name + attributes.map(([key, one]) => ` ${key.slice(1)}="${escapedXml(one)}"`).join('');
  const inside = content(value);
  return inside === '' ? `<${start}/>` : `<${start}>${inside}</${name}>`;
}

const signs: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
]);

/** Characters that XML cannot contain, such as NUL, are left out. */
export function escapedXml(value: Json): string {
  return String(value)
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"]/g, (sign) => signs.get(sign) ?? sign);
}
