// One line instead of a stack trace when a script was started by a Node that cannot run the sources, which happens
// when npm's pre-scripts were skipped (--ignore-scripts). Plain JavaScript for any Node from 18 on.
import process from 'node:process';

export const NEEDED = [24, 18, 1];

/** Says whether a version (`24.18.1`, with or without `v`) can run Cardea. */
export function isNewEnough(version) {
  const parts = version.replace(/^v/, '').split('.').map(Number);
  const at = NEEDED.findIndex((needed, index) => parts[index] !== needed);
  return at === -1 || parts[at] > NEEDED[at];
}

export function needNode() {
  if (isNewEnough(process.versions.node)) return;
  console.error(
    `Cardea needs Node ${NEEDED.join('.')} or newer, this is ${process.version}: start this by \`npm run\`, or by node_modules/.bin/node after \`npm run setup\`.`,
  );
  process.exit(1);
}
