// The packages that Cardea runs on: what the lockfile names and no tool of the workshop needs.
import fs from 'node:fs';

/** Returns `{ path, name, lock, manifest }` of each, in the lockfile's order; `path` is `node_modules/…` in the checkout. */
export function productionPackages() {
  const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
  return Object.entries(packages)
    .filter(([path, lock]) => path !== '' && !lock.dev && !lock.devOptional && !lock.link && fs.existsSync(path))
    .map(([path, lock]) => {
      const manifest = JSON.parse(fs.readFileSync(`${path}/package.json`, 'utf8'));
      return { path, name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), lock, manifest };
    });
}
