import { domainToUnicode } from 'node:url';
import { isOneEdit } from './edit.ts';

/**
 * Characters that read as another at a glance: the ones that stand in registered names (Unicode TR39, the Latin, Greek, Cyrillic,
 * Armenian and Cherokee rows), digits for letters, and pairs that run together in print. Each maps to the Latin it resembles.
 */
const CONFUSABLE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аαɑａ4',
    b: 'ЬьᏏƅв8',
    c: 'сϲⅽᴄ',
    d: 'ԁɗⅾ',
    e: 'еҽєɛε3',
    g: 'ɡցǥ9',
    h: 'һհ',
    i: 'іıɩιӏ1lj|ɪ',
    k: 'κкᴋ',
    m: 'мⅿ',
    n: 'ոռηп',
    o: 'оοօσ0ᴏ',
    p: 'рρϼ',
    q: 'ԛգ',
    r: 'гᴦ',
    s: 'ѕꜱ5$',
    t: 'тτ7',
    u: 'υսцᴜ',
    v: 'νѵⅴᴠ',
    w: 'ԝωѡш',
    x: 'хχⅹ',
    y: 'уγүʏ',
    z: 'ᴢ2',
  }).flatMap(([latin, likes]) => [...likes].map((like): readonly [string, string] => [like, latin])),
);

const RUN_TOGETHER: readonly (readonly [RegExp, string])[] = [
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/ci/g, 'd'], // "cl": l has become i by now
];

/** Reduces a host to what an eye takes in: accents gone, look-alikes folded, dots and hyphens gone. */
export function skeletonOf(host: string): string {
  const bare = domainToUnicode(host).normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const folded = [...bare].map((char) => CONFUSABLE.get(char) ?? char).join('');
  return RUN_TOGETHER.reduce((text, [pair, one]) => text.replaceAll(pair, one), folded).replaceAll(/[.-]/g, '');
}

/** Finds the allowed host that a refused one could be taken for; null where there is none. Give it only hosts that the caller may see. */
export function findLookalike(host: string, allowed: readonly string[]): string | null {
  const skeleton = skeletonOf(host);
  const found = allowed.find((known) => known !== host && resembles(host, skeleton, known));
  return found ?? null;
}

function resembles(host: string, skeleton: string, known: string): boolean {
  // "weather.example.com.evil.test": the known name is what a reader sees first.
  if (host.startsWith(`${known}.`) || host.startsWith(`${known}-`)) return true;
  return skeleton === skeletonOf(known) || isNearMiss(host, known);
}

// Below five characters nearly every name is one letter from another ("a.example", "b.example").
const MIN_LABEL = 5;

/** One label differs, and by one letter: added, left out, changed, or two swapped. */
function isNearMiss(host: string, known: string): boolean {
  const [ours, theirs] = [host.split('.'), known.split('.')];
  if (ours.length !== theirs.length) return false;
  const differing = ours.flatMap((label, at) => (label === theirs[at] ? [] : [[label, theirs[at] ?? ''] as const]));
  const [pair] = differing;
  if (differing.length !== 1 || pair === undefined || Math.min(pair[0].length, pair[1].length) < MIN_LABEL)
    return false;
  return isOneEdit(pair[0], pair[1]);
}
