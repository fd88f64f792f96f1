/**
 * Prints the packages that a running service uses, as a CycloneDX 1.6 bill of materials, from the lockfile alone:
 *
 *   node_modules/.bin/node scripts/sbom.ts > sbom.json
 *
 * `npm sbom --omit=dev` leaves out packages that are both a dependency of ours and an optional peer of a development package (yaml, of
 * vite), so it is not used.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
}

const root = path.dirname(import.meta.dirname);

/** Every package of the lockfile that is not for development only. Optional ones are included: they are the binaries per platform. */
export function shippedPackages(): LockedPackage[] {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: { [place: string]: Omit<LockedPackage, 'name'> & { dev?: boolean; link?: boolean } };
  };
  return Object.entries(packages)
    .filter(([place, { dev, link }]) => place.startsWith('node_modules/') && !dev && !link)
    .map(([place, { version, license, integrity }]) => ({
      name: place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      ...(license !== undefined && { license }),
      ...(integrity !== undefined && { integrity }),
    }));
}

function component({ name, version, license, integrity }: LockedPackage): object {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [algorithm, digest] = integrity?.split('-') ?? [];
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(license !== undefined && {
      licenses: [license.includes(' ') ? { expression: license } : { license: { id: license } }],
    }),
    ...(algorithm === 'sha512' &&
      digest !== undefined && {
        hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
      }),
  };
}

export function billOfMaterials(): object {
  const { name, version } = JSON.parse(
    readFileSync(path.join(root, 'packages', 'innbound', 'package.json'), 'utf8'),
  ) as LockedPackage;
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name, version } },
    components: shippedPackages().map(component),
  };
}

if (import.meta.main) console.log(JSON.stringify(billOfMaterials(), null, 2));
