import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';

/**
 * Reads files for ${file:…}: only from the workspace, from the folders where platforms mount secrets, and from those that
 * INNBOUND_SECRET_FOLDERS names (separated as in PATH). Never from .innbound or from INNBOUND_KEY_FILE, which hold the key to all
 * stored secrets. The environment decides, not a document: documents can be edited through the API.
 */
export function secretFiles(
  workspaceDir: string,
  env: Readonly<Record<string, string | undefined>>,
): (file: string) => Promise<string | undefined> {
  const named = (env.INNBOUND_SECRET_FOLDERS ?? '').split(path.delimiter);
  const folders = [workspaceDir, '/run/secrets', '/var/run/secrets', env.CREDENTIALS_DIRECTORY ?? '', ...named];
  return async (file) => {
    try {
      // Links are followed first: what counts is where the content is.
      const target = await realpath(path.resolve(workspaceDir, file));
      if (target.split(path.sep).includes('.innbound')) return undefined;
      const { INNBOUND_KEY_FILE: key } = env;
      if (key && target === (await realpath(key).catch(() => undefined))) return undefined;
      for (const folder of folders) {
        if (folder !== '' && isInside(target, await realpath(folder).catch(() => undefined))) {
          return await readFile(target, 'utf8');
        }
      }
    } catch {}
    return undefined;
  };
}

function isInside(target: string, folder: string | undefined): boolean {
  return folder !== undefined && target.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}
