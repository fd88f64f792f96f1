import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const modules = path.resolve(import.meta.dirname, '..', '..', 'node_modules');

/** The licences of libraries that are inside a package of ours, as their authors ask. */
export async function licenceTexts(names: readonly string[]): Promise<string> {
  const texts = await Promise.all([...names].sort().map(licenceText));
  return `This package includes the following libraries.\n\n${texts.join('\n')}`;
}

async function licenceText(name: string): Promise<string> {
  const folder = path.join(modules, name);
  const { version, license } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
    version: string;
    license?: string;
  };
  const file = (await readdir(folder)).find((each) => /^(licen[cs]e|copying)/i.test(each));
  const text = file === undefined ? '' : `\n${(await readFile(path.join(folder, file), 'utf8')).trim()}\n`;
  return `${'-'.repeat(80)}\n${name} ${version} (${license})\n${text}`;
}
