import { BASE } from '../scenarios/review-world.ts';

/** Markup that would run if it ever became markup. */
const MARKUP =
  '<img src=x onerror="window.ran = true"><script>window.ran = true</script><svg onload="window.ran = true">';
/** Turns the text around it, hides in it, and counts lines that are none. */
const BIDI = 'safe\u202eetsap\u2066\u200b\u2028\u0000\u{e0041}';
/** Larger than a whole card may be by default. */
const LONG = 1024 * 1024;

/** A card that attacks whoever reads it. */
export const HOSTILE = {
  ...BASE,
  name: `${MARKUP}${BIDI}`,
  description: `A${'\u0301'.repeat(200)} ${'word '.repeat(LONG / 5)}`,
  version: '</script>"><b>1.0',
  documentationUrl: 'javascript:window.ran=true',
  provider: { organization: MARKUP, url: 'data:text/html,<script>window.ran=true</script>' },
  skills: [
    {
      id: '__proto__',
      name: BIDI,
      description: 'x\u200b'.repeat(100_000),
      tags: [MARKUP],
      examples: ['\u202e'.repeat(1_000)],
    },
    { id: 'constructor', name: MARKUP, description: MARKUP, tags: ['{{7*7}}', '${7*7}'] },
  ],
};

/** The same, changed in every text. */
export const HOSTILE_AGAIN = {
  ...HOSTILE,
  name: `${BIDI}${MARKUP}`,
  description: 'other '.repeat(LONG / 8),
  skills: [{ ...HOSTILE.skills[0], description: `${'y\u202e'.repeat(80_000)}${MARKUP}` }, HOSTILE.skills[1]],
};
