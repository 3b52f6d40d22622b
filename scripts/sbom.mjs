// `node scripts/sbom.mjs > sbom.cdx.json`: what runs when Cardea runs, as CycloneDX 1.6. The same lockfile and the same Node give the
// same bytes.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { needNode } from './need-node.mjs';
import { productionPackages } from './production-packages.mjs';

needNode();
process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const own = JSON.parse(fs.readFileSync('package.json', 'utf8'));
const packages = productionPackages();
const npm = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;
const refs = new Map(packages.map(({ name, lock }) => [name, npm(name, lock.version)]));
const self = npm(own.name, own.version);
const node = `pkg:generic/node@${process.versions.node}`;

const components = packages.map(({ name, lock, manifest }) => ({
  type: 'library',
  'bom-ref': npm(name, lock.version),
  name,
  version: lock.version,
  purl: npm(name, lock.version),
  hashes: hashesOf(lock.integrity),
  licenses: licensesOf(manifest.license),
}));
const runtime = {
  type: 'platform',
  'bom-ref': node,
  name: 'node',
  version: process.versions.node,
  purl: node,
  description: `Holds OpenSSL ${process.versions.openssl}, SQLite ${process.versions.sqlite}, llhttp ${process.versions.llhttp}.`,
  hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(fs.readFileSync(process.execPath)).digest('hex') }],
};
const dependencies = [
  { ref: self, dependsOn: [node, ...refsOf(own.dependencies)] },
  ...packages.map(({ name, lock }) => ({
    ref: refs.get(name),
    dependsOn: refsOf(lock.dependencies),
  })),
  { ref: node, dependsOn: [] },
];
const application = {
  type: 'application',
  'bom-ref': self,
  name: own.name,
  version: own.version,
  purl: self,
  licenses: licensesOf(own.license),
};
const content = { metadata: { component: application }, components: [...components, runtime], dependencies };

console.log(
  JSON.stringify(
    { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serial(content), version: 1, ...content },
    null,
    2,
  ),
);

/** What of a list of dependencies is there; an optional one may not be. */
function refsOf(wanted = {}) {
  return Object.keys(wanted).flatMap((name) => refs.get(name) ?? []);
}

/** npm's integrity is base64 of SHA-512, and CycloneDX wants hex. */
function hashesOf(integrity) {
  const [, digest] = /^sha512-(.+)$/.exec(integrity ?? '') ?? [];
  return digest === undefined ? [] : [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }];
}

/** SPDX: one identifier, or an expression. */
function licensesOf(license) {
  if (typeof license !== 'string') return [];
  return /[ ()]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
}

/** A UUID that is made from the content (RFC 9562 version 8). */
function serial(value) {
  const hex = createHash('sha256').update(JSON.stringify(value)).digest('hex');
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
